"""ConsumerGroupDescribe (key 69)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int8, Int16, Int32, Uuid, field, message, structure


@message(key=69, versions=(0, 1), flexible=0)
class ConsumerGroupDescribeRequest:
    """Consumer groups in detail (KIP-848)."""

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
    instance_id: str | None = field(default=None)
    rack_id: str | None = field(default=None)
    member_epoch: Int32
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None = field(default=None)
    assignment: Assignment
    target_assignment: Assignment
    member_type: Int8 = field(since=1, default=-1, ignorable=True)


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


@message(key=69, versions=(0, 1), flexible=0)
class ConsumerGroupDescribeResponse:
    """Members, their assignments and targets. v1 type of member (KIP-1099)."""

    throttle_time_ms: Int32
    groups: list[DescribedGroup]
