"""The topics that brokers keep for themselves: what they are called, and how they are made.

Made when they are first needed, through the controller, as any topic; their settings come from the broker that asks.

Not here   what stands in them (groups, transactions), who needs one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from quire.config.broker import BrokerSettings
from quire.protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig
from quire.records.compression import Compression

OFFSETS: Final = "__consumer_offsets"
TRANSACTIONS: Final = "__transaction_state"
SHARES: Final = "__share_group_state"
INTERNAL_TOPICS: Final = frozenset({OFFSETS, TRANSACTIONS, SHARES})

FROM_THE_CLUSTER: Final = -1


def creatable(name: str, settings: BrokerSettings) -> CreatableTopic:
    """How a topic is asked for that somebody uses before it is there."""
    if name == OFFSETS:
        return _topic(
            name,
            settings.offsets_topic_num_partitions,
            settings.offsets_topic_replication_factor,
            {
                "compression.type": _codec(settings.offsets_topic_compression_codec),
                "cleanup.policy": "compact",
                "segment.bytes": str(settings.offsets_topic_segment_bytes),
            },
        )
    if name == TRANSACTIONS:
        return _topic(
            name,
            settings.transaction_state_log_num_partitions,
            settings.transaction_state_log_replication_factor,
            {
                "compression.type": "uncompressed",
                "min.insync.replicas": str(settings.transaction_state_log_min_isr),
                "cleanup.policy": "compact",
                "segment.bytes": str(settings.transaction_state_log_segment_bytes),
                "unclean.leader.election.enable": "false",
            },
        )
    if name == SHARES:
        return _topic(
            name,
            settings.share_coordinator_state_topic_num_partitions,
            settings.share_coordinator_state_topic_replication_factor,
            {
                "compression.type": _codec(
                    settings.share_coordinator_state_topic_compression_codec
                ),
                "min.insync.replicas": str(settings.share_coordinator_state_topic_min_isr),
                "cleanup.policy": "delete",
                "segment.bytes": str(settings.share_coordinator_state_topic_segment_bytes),
                "retention.ms": "-1",
            },
        )
    return _topic(name, FROM_THE_CLUSTER, FROM_THE_CLUSTER, {})


def _codec(number: int) -> str:
    """A codec as a topic's setting names it; batches written without one keep what their producer chose."""
    return "producer" if number == Compression.NONE else Compression(number).name.lower()


def _topic(
    name: str, partitions: int, replicas: int, settings: Mapping[str, str]
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        assignments=[],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in settings.items()],
    )
