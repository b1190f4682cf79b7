"""ConsumerGroupHeartbeat (key 68)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Uuid, field, message, structure


@structure
class ConsumerGroupHeartbeatRequestTopicPartitions:
    topic_id: Uuid
    partitions: list[Int32]


@message(key=68, versions=(0, 1), flexible=0)
class ConsumerGroupHeartbeatRequest:
    """Join, stay in and leave a consumer group (KIP-848). v1 pattern subscription."""

    group_id: str
    member_id: str
    member_epoch: Int32
    instance_id: str | None = field(default=None)
    rack_id: str | None = field(default=None)
    rebalance_timeout_ms: Int32 = field(default=-1)
    subscribed_topic_names: list[str] | None = field(default=None)
    subscribed_topic_regex: str | None = field(since=1, default=None)
    server_assignor: str | None = field(default=None)
    topic_partitions: list[ConsumerGroupHeartbeatRequestTopicPartitions] | None = field(
        default=None
    )


@structure
class ConsumerGroupHeartbeatResponseTopicPartitions:
    topic_id: Uuid
    partitions: list[Int32]


@structure
class Assignment:
    topic_partitions: list[ConsumerGroupHeartbeatResponseTopicPartitions]


@message(key=68, versions=(0, 1), flexible=0)
class ConsumerGroupHeartbeatResponse:
    """The member's epoch, and its assignment when it changed."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None = field(default=None)
    member_id: str | None = field(default=None)
    member_epoch: Int32
    heartbeat_interval_ms: Int32
    assignment: Assignment | None = field(default=None)
