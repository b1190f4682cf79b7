"""StreamsGroupHeartbeat (key 88)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int8, Int16, Int32, Int64, UInt16, field, message, structure


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


@structure
class Topology:
    epoch: Int32
    subtopologies: list[Subtopology]


@structure
class StreamsGroupHeartbeatRequestTaskIds:
    subtopology_id: str
    partitions: list[Int32]


@structure
class StreamsGroupHeartbeatRequestEndpoint:
    host: str
    port: UInt16


@structure
class TaskOffset:
    subtopology_id: str
    partition: Int32
    offset: Int64


@message(key=88, versions=(0, 0), flexible=0)
class StreamsGroupHeartbeatRequest:
    """Join, stay in and leave a streams group (KIP-1071)."""

    group_id: str
    member_id: str
    member_epoch: Int32
    endpoint_information_epoch: Int32
    instance_id: str | None = field(default=None)
    rack_id: str | None = field(default=None)
    rebalance_timeout_ms: Int32 = field(default=-1)
    topology: Topology | None = field(default=None)
    active_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = field(default=None)
    standby_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = field(default=None)
    warmup_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = field(default=None)
    process_id: str | None = field(default=None)
    user_endpoint: StreamsGroupHeartbeatRequestEndpoint | None = field(default=None)
    client_tags: list[KeyValue] | None = field(default=None)
    task_offsets: list[TaskOffset] | None = field(default=None)
    task_end_offsets: list[TaskOffset] | None = field(default=None)
    shutdown_application: Bool = field(default=False)


@structure
class Status:
    status_code: Int8
    status_detail: str


@structure
class StreamsGroupHeartbeatResponseTaskIds:
    subtopology_id: str
    partitions: list[Int32]


@structure
class StreamsGroupHeartbeatResponseEndpoint:
    host: str
    port: UInt16


@structure
class TopicPartition:
    topic: str
    partitions: list[Int32]


@structure
class EndpointToPartitions:
    user_endpoint: StreamsGroupHeartbeatResponseEndpoint
    active_partitions: list[TopicPartition]
    standby_partitions: list[TopicPartition]


@message(key=88, versions=(0, 0), flexible=0)
class StreamsGroupHeartbeatResponse:
    """The member's epoch, its tasks and the group's status."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None = field(default=None)
    member_id: str
    member_epoch: Int32
    heartbeat_interval_ms: Int32
    acceptable_recovery_lag: Int32
    task_offset_interval_ms: Int32
    status: list[Status] | None
    active_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = field(default=None)
    standby_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = field(default=None)
    warmup_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = field(default=None)
    endpoint_information_epoch: Int32
    partitions_by_user_endpoint: list[EndpointToPartitions] | None = field(default=None)
