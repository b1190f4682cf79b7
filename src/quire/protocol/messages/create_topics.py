"""CreateTopics (key 19)."""

from __future__ import annotations

from quire.protocol.schema import (
    ZERO_UUID,
    Bool,
    Int8,
    Int16,
    Int32,
    Uuid,
    field,
    message,
    structure,
)


@structure
class CreatableReplicaAssignment:
    partition_index: Int32
    broker_ids: list[Int32]


@structure
class CreatableTopicConfig:
    name: str
    value: str | None


@structure
class CreatableTopic:
    name: str
    num_partitions: Int32
    replication_factor: Int16
    assignments: list[CreatableReplicaAssignment]
    configs: list[CreatableTopicConfig]


@message(key=19, versions=(2, 7), flexible=5)
class CreateTopicsRequest:
    """Make topics. v4 default counts (KIP-464)."""

    topics: list[CreatableTopic]
    timeout_ms: Int32 = field(default=60000)
    validate_only: Bool = field(default=False)


@structure
class CreatableTopicConfigs:
    name: str
    value: str | None
    read_only: Bool
    config_source: Int8 = field(default=-1)
    is_sensitive: Bool


@structure
class CreatableTopicResult:
    name: str
    topic_id: Uuid = field(since=7, default=ZERO_UUID, ignorable=True)
    error_code: Int16
    error_message: str | None
    topic_config_error_code: Int16 = field(since=5, tag=0, default=0, ignorable=True)
    num_partitions: Int32 = field(since=5, default=-1, ignorable=True)
    replication_factor: Int16 = field(since=5, default=-1, ignorable=True)
    configs: list[CreatableTopicConfigs] | None = field(since=5, default=[], ignorable=True)


@message(key=19, versions=(2, 7), flexible=5)
class CreateTopicsResponse:
    """What became of each topic. v5 its configs (KIP-525) · v7 its id."""

    throttle_time_ms: Int32
    topics: list[CreatableTopicResult]
