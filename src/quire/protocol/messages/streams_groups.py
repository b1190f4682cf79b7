"""Keys and values that streams groups keep in `__consumer_offsets` (KIP-1071)."""

from __future__ import annotations

from quire.protocol.schema import (
    NEVER,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt16,
    field,
    message,
    structure,
)


@message(key=17, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class StreamsGroupMetadataKey:
    """Key of a streams group's epoch."""

    group_id: str


@structure
class LastAssignmentConfig:
    key: str
    value: str


@message(key=17, kind="coordinator-value", versions=(0, 0), flexible=0)
class StreamsGroupMetadataValue:
    """A streams group's epoch and what it was computed from."""

    epoch: Int32
    metadata_hash: Int64
    validated_topology_epoch: Int32 = field(tag=0, default=-1)
    last_assignment_configs: list[LastAssignmentConfig] | None = field(tag=1, default=[])


@message(key=19, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class StreamsGroupMemberMetadataKey:
    """Key of one streams member."""

    group_id: str
    member_id: str


@structure
class Endpoint:
    host: str
    port: UInt16


@structure
class KeyValue:
    key: str
    value: str


@message(key=19, kind="coordinator-value", versions=(0, 0), flexible=0)
class StreamsGroupMemberMetadataValue:
    """One streams member: its process, topology and endpoint."""

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: Int32 = field(default=-1)
    topology_epoch: Int32
    process_id: str
    user_endpoint: Endpoint | None = field(default=None)
    client_tags: list[KeyValue]


@message(key=20, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class StreamsGroupTargetAssignmentMetadataKey:
    """Key of a task assignment's epoch."""

    group_id: str


@message(key=20, kind="coordinator-value", versions=(0, 0), flexible=0)
class StreamsGroupTargetAssignmentMetadataValue:
    """A task assignment's epoch."""

    assignment_epoch: Int32
    assignment_timestamp: Int64 = field(tag=0, default=0)


@message(key=21, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class StreamsGroupTargetAssignmentMemberKey:
    """Key of one member's target tasks."""

    group_id: str
    member_id: str


@structure
class StreamsGroupTargetAssignmentMemberTaskIds:
    subtopology_id: str
    partitions: list[Int32]


@message(key=21, kind="coordinator-value", versions=(0, 0), flexible=0)
class StreamsGroupTargetAssignmentMemberValue:
    """One member's target tasks."""

    active_tasks: list[StreamsGroupTargetAssignmentMemberTaskIds]
    standby_tasks: list[StreamsGroupTargetAssignmentMemberTaskIds]
    warmup_tasks: list[StreamsGroupTargetAssignmentMemberTaskIds]


@message(key=22, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class StreamsGroupCurrentMemberAssignmentKey:
    """Key of the tasks one member holds."""

    group_id: str
    member_id: str


@structure
class StreamsGroupCurrentMemberAssignmentTaskIds:
    subtopology_id: str
    partitions: list[Int32]
    assignment_epochs: list[Int32] | None = field(tag=0, default=[])


@message(key=22, kind="coordinator-value", versions=(0, 0), flexible=0)
class StreamsGroupCurrentMemberAssignmentValue:
    """The tasks one member holds and those it has to give back."""

    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    active_tasks: list[StreamsGroupCurrentMemberAssignmentTaskIds]
    standby_tasks: list[StreamsGroupCurrentMemberAssignmentTaskIds]
    warmup_tasks: list[StreamsGroupCurrentMemberAssignmentTaskIds]
    active_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentTaskIds]
    standby_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentTaskIds]
    warmup_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentTaskIds]


@message(key=23, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class StreamsGroupTopologyKey:
    """Key of a streams group's topology."""

    group_id: str


@structure
class TopicConfig:
    key: str
    value: str


@structure
class TopicInfo:
    name: str
    partitions: Int32
    replication_factor: Int16
    topic_configs: list[TopicConfig]


@structure
class CopartitionGroup:
    source_topics: list[Int16]
    source_topic_regex: list[Int16]
    repartition_source_topics: list[Int16]


@structure
class Subtopology:
    subtopology_id: str
    source_topics: list[str]
    source_topic_regex: list[str]
    state_changelog_topics: list[TopicInfo]
    repartition_sink_topics: list[str]
    repartition_source_topics: list[TopicInfo]
    copartition_groups: list[CopartitionGroup]


@message(key=23, kind="coordinator-value", versions=(0, 0), flexible=0)
class StreamsGroupTopologyValue:
    """The topology: subtopologies and their topics."""

    epoch: Int32
    subtopologies: list[Subtopology]
