"""Keys and values that share groups keep in `__consumer_offsets` (KIP-932)."""

from __future__ import annotations

from quire.protocol.schema import NEVER, Int8, Int32, Int64, Uuid, field, message, structure


@message(key=10, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class ShareGroupMemberMetadataKey:
    """Key of one share member's wishes."""

    group_id: str
    member_id: str


@message(key=10, kind="coordinator-value", versions=(0, 0), flexible=0)
class ShareGroupMemberMetadataValue:
    """One share member's wishes."""

    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]


@message(key=11, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class ShareGroupMetadataKey:
    """Key of a share group's epoch."""

    group_id: str


@message(key=11, kind="coordinator-value", versions=(0, 0), flexible=0)
class ShareGroupMetadataValue:
    """A share group's epoch."""

    epoch: Int32
    metadata_hash: Int64


@message(key=12, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class ShareGroupTargetAssignmentMetadataKey:
    """Key of a share target assignment's epoch."""

    group_id: str


@message(key=12, kind="coordinator-value", versions=(0, 0), flexible=0)
class ShareGroupTargetAssignmentMetadataValue:
    """A share target assignment's epoch."""

    assignment_epoch: Int32
    assignment_timestamp: Int64 = field(tag=0, default=0)


@message(key=13, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class ShareGroupTargetAssignmentMemberKey:
    """Key of one share member's target."""

    group_id: str
    member_id: str


@structure
class TopicPartition:
    topic_id: Uuid
    partitions: list[Int32]


@message(key=13, kind="coordinator-value", versions=(0, 0), flexible=0)
class ShareGroupTargetAssignmentMemberValue:
    """One share member's target."""

    topic_partitions: list[TopicPartition]


@message(key=14, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class ShareGroupCurrentMemberAssignmentKey:
    """Key of what one share member holds."""

    group_id: str
    member_id: str


@structure
class TopicPartitions:
    topic_id: Uuid
    partitions: list[Int32]


@message(key=14, kind="coordinator-value", versions=(0, 0), flexible=0)
class ShareGroupCurrentMemberAssignmentValue:
    """What one share member holds."""

    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: list[TopicPartitions]


@message(key=15, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class ShareGroupStatePartitionMetadataKey:
    """Key of the partitions with share state."""

    group_id: str


@structure
class TopicPartitionsInfo:
    topic_id: Uuid
    topic_name: str
    partitions: list[Int32]


@structure
class TopicInfo:
    topic_id: Uuid
    topic_name: str


@message(key=15, kind="coordinator-value", versions=(0, 0), flexible=0)
class ShareGroupStatePartitionMetadataValue:
    """Which partitions have share state, or are getting or losing it."""

    initializing_topics: list[TopicPartitionsInfo]
    initialized_topics: list[TopicPartitionsInfo]
    deleting_topics: list[TopicInfo]
