from __future__ import annotations

import pytest
from tests.broker.scene import STATIC

from quire.broker.internal_topics import INTERNAL_TOPICS, OFFSETS, SHARES, TRANSACTIONS, creatable
from quire.config.broker import BrokerSettings

OF = {
    OFFSETS: {
        "compression.type": "producer", "cleanup.policy": "compact", "segment.bytes": "104857600",
    },
    TRANSACTIONS: {
        "compression.type": "uncompressed", "min.insync.replicas": "2",
        "cleanup.policy": "compact", "segment.bytes": "104857600",
        "unclean.leader.election.enable": "false",
    },
    SHARES: {
        "compression.type": "producer", "min.insync.replicas": "2", "cleanup.policy": "delete",
        "segment.bytes": "104857600", "retention.ms": "-1",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(INTERNAL_TOPICS))
def test_an_internal_topic_is_made_as_kafka_makes_it(name: str) -> None:
    topic = creatable(name, BrokerSettings.of(STATIC))
    assert (topic.num_partitions, topic.replication_factor) == (50, 3)
    assert {one.name: one.value for one in topic.configs} == OF[name]


def test_any_other_topic_is_made_as_the_cluster_makes_topics() -> None:
    topic = creatable("orders", BrokerSettings.of(STATIC))
    assert (topic.num_partitions, topic.replication_factor, topic.configs) == (-1, -1, [])


def test_a_codec_is_told_by_its_name() -> None:
    settings = BrokerSettings.of({**STATIC, "offsets.topic.compression.codec": "4"})
    configs = {one.name: one.value for one in creatable(OFFSETS, settings).configs}
    assert configs["compression.type"] == "zstd"
