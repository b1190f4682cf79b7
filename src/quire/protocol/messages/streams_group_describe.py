"""StreamsGroupDescribe (key 89)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int16, Int32, Int64, UInt16, field, message, structure


@message(key=89, versions=(0, 0), flexible=0)
class StreamsGroupDescribeRequest:
    """Streams groups in detail (KIP-1071)."""

    group_ids: list[str]
    include_authorized_operations: Bool


@structure
class KeyValue:
    key: str
    value: str


@structure
class TopicInfo:
    name: str
    partitions: Int32
    replication_factor: Int16
    topic_configs: list[KeyValue]


@structure
class Subtopology:
    subtopology_id: str
    source_topics: list[str]
    repartition_sink_topics: list[str]
    state_changelog_topics: list[TopicInfo]
    repartition_source_topics: list[TopicInfo]


@structure
class Topology:
    epoch: Int32
    subtopologies: list[Subtopology] | None = field(default=None)


@structure
class Endpoint:
    host: str
    port: UInt16


@structure
class TaskOffset:
    subtopology_id: str
    partition: Int32
    offset: Int64


@structure
class TaskIds:
    subtopology_id: str
    partitions: list[Int32]


@structure
class Assignment:
    active_tasks: list[TaskIds]
    standby_tasks: list[TaskIds]
    warmup_tasks: list[TaskIds]


@structure
class Member:
    member_id: str
    member_epoch: Int32
    instance_id: str | None = field(default=None)
    rack_id: str | None = field(default=None)
    client_id: str
    client_host: str
    topology_epoch: Int32
    process_id: str
    user_endpoint: Endpoint | None = field(default=None)
    client_tags: list[KeyValue]
    task_offsets: list[TaskOffset]
    task_end_offsets: list[TaskOffset]
    assignment: Assignment
    target_assignment: Assignment
    is_classic: Bool


@structure
class DescribedGroup:
    error_code: Int16
    error_message: str | None = field(default=None)
    group_id: str
    group_state: str
    group_epoch: Int32
    assignment_epoch: Int32
    topology: Topology | None = field(default=None)
    members: list[Member]
    authorized_operations: Int32 = field(default=-2147483648)


@message(key=89, versions=(0, 0), flexible=0)
class StreamsGroupDescribeResponse:
    """Topology, members and tasks."""

    throttle_time_ms: Int32
    groups: list[DescribedGroup]
