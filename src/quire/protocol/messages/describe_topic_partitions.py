"""DescribeTopicPartitions (key 75)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int16, Int32, Uuid, field, message, structure


@structure
class TopicRequest:
    name: str


@structure
class DescribeTopicPartitionsRequestCursor:
    topic_name: str
    partition_index: Int32


@message(key=75, versions=(0, 0), flexible=0)
class DescribeTopicPartitionsRequest:
    """Partitions page by page, with ELR (KIP-966)."""

    topics: list[TopicRequest]
    response_partition_limit: Int32 = field(default=2000)
    cursor: DescribeTopicPartitionsRequestCursor | None = field(default=None)


@structure
class DescribeTopicPartitionsResponsePartition:
    error_code: Int16
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32 = field(default=-1)
    replica_nodes: list[Int32]
    isr_nodes: list[Int32]
    eligible_leader_replicas: list[Int32] | None = field(default=None)
    last_known_elr: list[Int32] | None = field(default=None)
    offline_replicas: list[Int32]


@structure
class DescribeTopicPartitionsResponseTopic:
    error_code: Int16
    name: str | None
    topic_id: Uuid
    is_internal: Bool = field(default=False)
    partitions: list[DescribeTopicPartitionsResponsePartition]
    topic_authorized_operations: Int32 = field(default=-2147483648)


@structure
class DescribeTopicPartitionsResponseCursor:
    topic_name: str
    partition_index: Int32


@message(key=75, versions=(0, 0), flexible=0)
class DescribeTopicPartitionsResponse:
    """One page, and the cursor of the next."""

    throttle_time_ms: Int32
    topics: list[DescribeTopicPartitionsResponseTopic]
    next_cursor: DescribeTopicPartitionsResponseCursor | None = field(default=None)
