"""AlterPartition (key 56)."""

from __future__ import annotations

from quire.protocol.schema import Int8, Int16, Int32, Int64, Uuid, field, message, structure


@structure
class BrokerState:
    broker_id: Int32
    broker_epoch: Int64 = field(default=-1)


@structure
class AlterPartitionRequestPartitionData:
    partition_index: Int32
    leader_epoch: Int32
    new_isr: list[Int32] = field(until=2, default=[])
    new_isr_with_epochs: list[BrokerState] = field(since=3, default=[])
    leader_recovery_state: Int8 = field(default=0)
    partition_epoch: Int32


@structure
class AlterPartitionRequestTopicData:
    topic_id: Uuid
    partitions: list[AlterPartitionRequestPartitionData]


@message(key=56, versions=(2, 3), flexible=0)
class AlterPartitionRequest:
    """A leader proposes a new in-sync set (KIP-497). v2 topic ids · v3 broker epochs (KIP-903)."""

    broker_id: Int32
    broker_epoch: Int64 = field(default=-1)
    topics: list[AlterPartitionRequestTopicData]


@structure
class AlterPartitionResponsePartitionData:
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32
    isr: list[Int32]
    leader_recovery_state: Int8 = field(default=0)
    partition_epoch: Int32


@structure
class AlterPartitionResponseTopicData:
    topic_id: Uuid
    partitions: list[AlterPartitionResponsePartitionData]


@message(key=56, versions=(2, 3), flexible=0)
class AlterPartitionResponse:
    """The state of each partition as the controller decided it."""

    throttle_time_ms: Int32
    error_code: Int16
    topics: list[AlterPartitionResponseTopicData]
