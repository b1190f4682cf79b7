"""ShareGroupHeartbeat (key 76)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Uuid, field, message, structure


@message(key=76, versions=(1, 1), flexible=0)
class ShareGroupHeartbeatRequest:
    """Join, stay in and leave a share group (KIP-932)."""

    group_id: str
    member_id: str
    member_epoch: Int32
    rack_id: str | None = field(default=None)
    subscribed_topic_names: list[str] | None = field(default=None)


@structure
class TopicPartitions:
    topic_id: Uuid
    partitions: list[Int32]


@structure
class Assignment:
    topic_partitions: list[TopicPartitions]


@message(key=76, versions=(1, 1), flexible=0)
class ShareGroupHeartbeatResponse:
    """The member's epoch, and its assignment when it changed."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None = field(default=None)
    member_id: str | None = field(default=None)
    member_epoch: Int32
    heartbeat_interval_ms: Int32
    assignment: Assignment | None = field(default=None)
