"""ShareGroupDescribe (key 77)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int16, Int32, Uuid, field, message, structure


@message(key=77, versions=(1, 1), flexible=0)
class ShareGroupDescribeRequest:
    """Share groups in detail (KIP-932)."""

    group_ids: list[str]
    include_authorized_operations: Bool


@structure
class TopicPartitions:
    topic_id: Uuid
    topic_name: str
    partitions: list[Int32]


@structure
class Assignment:
    topic_partitions: list[TopicPartitions]


@structure
class Member:
    member_id: str
    rack_id: str | None = field(default=None)
    member_epoch: Int32
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    assignment: Assignment


@structure
class DescribedGroup:
    error_code: Int16
    error_message: str | None = field(default=None)
    group_id: str
    group_state: str
    group_epoch: Int32
    assignment_epoch: Int32
    assignor_name: str
    members: list[Member]
    authorized_operations: Int32 = field(default=-2147483648)


@message(key=77, versions=(1, 1), flexible=0)
class ShareGroupDescribeResponse:
    """Members and their assignments."""

    throttle_time_ms: Int32
    groups: list[DescribedGroup]
