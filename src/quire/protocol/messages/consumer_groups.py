"""Keys and values that consumer groups keep in `__consumer_offsets` (KIP-848)."""

from __future__ import annotations

from quire.protocol.schema import NEVER, Int8, Int32, Int64, Uuid, field, message, structure


@message(key=3, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class ConsumerGroupMetadataKey:
    """Key of a consumer group's epoch."""

    group_id: str


@message(key=3, kind="coordinator-value", versions=(0, 0), flexible=0)
class ConsumerGroupMetadataValue:
    """A consumer group's epoch."""

    epoch: Int32
    metadata_hash: Int64 = field(tag=0, default=0)


@message(key=4, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class ConsumerGroupPartitionMetadataKey:
    """Key of the partitions a group saw; no longer written."""

    group_id: str


@structure
class PartitionMetadata:
    partition: Int32
    racks: list[str]


@structure
class TopicMetadata:
    topic_id: Uuid
    topic_name: str
    num_partitions: Int32
    partition_metadata: list[PartitionMetadata]


@message(key=4, kind="coordinator-value", versions=(0, 0), flexible=0)
class ConsumerGroupPartitionMetadataValue:
    """The partitions a consumer group saw; no longer written."""

    topics: list[TopicMetadata]


@message(key=5, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class ConsumerGroupMemberMetadataKey:
    """Key of one member's wishes."""

    group_id: str
    member_id: str


@structure
class ClassicProtocol:
    name: str
    metadata: bytes


@structure
class ClassicMemberMetadata:
    session_timeout_ms: Int32 = field(default=0)
    supported_protocols: list[ClassicProtocol] = field(default=[])


@message(key=5, kind="coordinator-value", versions=(0, 0), flexible=0)
class ConsumerGroupMemberMetadataValue:
    """One member's wishes."""

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None
    rebalance_timeout_ms: Int32 = field(default=-1)
    server_assignor: str | None
    classic_member_metadata: ClassicMemberMetadata | None = field(
        tag=0, default=ClassicMemberMetadata
    )


@message(key=6, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class ConsumerGroupTargetAssignmentMetadataKey:
    """Key of a target assignment's epoch."""

    group_id: str


@message(key=6, kind="coordinator-value", versions=(0, 0), flexible=0)
class ConsumerGroupTargetAssignmentMetadataValue:
    """A target assignment's epoch."""

    assignment_epoch: Int32
    assignment_timestamp: Int64 = field(tag=0, default=0)


@message(key=7, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class ConsumerGroupTargetAssignmentMemberKey:
    """Key of one member's target."""

    group_id: str
    member_id: str


@structure
class TopicPartition:
    topic_id: Uuid
    partitions: list[Int32]


@message(key=7, kind="coordinator-value", versions=(0, 0), flexible=0)
class ConsumerGroupTargetAssignmentMemberValue:
    """One member's target."""

    topic_partitions: list[TopicPartition]


@message(key=8, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class ConsumerGroupCurrentMemberAssignmentKey:
    """Key of what one member holds."""

    group_id: str
    member_id: str


@structure
class TopicPartitions:
    topic_id: Uuid
    partitions: list[Int32]
    assignment_epochs: list[Int32] | None = field(tag=0, default=[])


@message(key=8, kind="coordinator-value", versions=(0, 0), flexible=0)
class ConsumerGroupCurrentMemberAssignmentValue:
    """What one member holds and still has to give back."""

    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: list[TopicPartitions]
    partitions_pending_revocation: list[TopicPartitions]


@message(key=16, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class ConsumerGroupRegularExpressionKey:
    """Key of a pattern in a group."""

    group_id: str
    regular_expression: str


@message(key=16, kind="coordinator-value", versions=(0, 0), flexible=0)
class ConsumerGroupRegularExpressionValue:
    """The topics a pattern matched."""

    topics: list[str]
    version: Int64
    timestamp: Int64
