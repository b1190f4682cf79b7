"""JoinGroup (key 11)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int16, Int32, field, message, structure


@structure
class JoinGroupRequestProtocol:
    name: str
    metadata: bytes


@message(key=11, versions=(0, 9), flexible=6)
class JoinGroupRequest:
    """Enter a classic group. v4 member id first (KIP-394) · v5 static members (KIP-345) · v8
    reason (KIP-800).
    """

    group_id: str
    session_timeout_ms: Int32
    rebalance_timeout_ms: Int32 = field(since=1, default=-1, ignorable=True)
    member_id: str
    group_instance_id: str | None = field(since=5, default=None)
    protocol_type: str
    protocols: list[JoinGroupRequestProtocol]
    reason: str | None = field(since=8, default=None, ignorable=True)


@structure
class JoinGroupResponseMember:
    member_id: str
    group_instance_id: str | None = field(since=5, default=None, ignorable=True)
    metadata: bytes


@message(key=11, versions=(0, 9), flexible=6)
class JoinGroupResponse:
    """The new generation, and for its leader the members. v7 protocol type · v9 the leader may
    skip assignment (KIP-814).
    """

    throttle_time_ms: Int32 = field(since=2, default=0, ignorable=True)
    error_code: Int16
    generation_id: Int32 = field(default=-1)
    protocol_type: str | None = field(since=7, default=None, ignorable=True)
    protocol_name: str | None = field(nullable_since=7)
    leader: str
    skip_assignment: Bool = field(since=9, default=False)
    member_id: str
    members: list[JoinGroupResponseMember]
