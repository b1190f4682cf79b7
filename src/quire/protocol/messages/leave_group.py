"""LeaveGroup (key 13)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, field, message, structure


@structure
class MemberIdentity:
    member_id: str
    group_instance_id: str | None = field(default=None)
    reason: str | None = field(since=5, default=None, ignorable=True)


@message(key=13, versions=(0, 5), flexible=4)
class LeaveGroupRequest:
    """Members leave; one before v3, several since (KIP-345) · v5 reason (KIP-800)."""

    group_id: str
    member_id: str = field(until=2, default="")
    members: list[MemberIdentity] = field(since=3, default=[])


@structure
class MemberResponse:
    member_id: str
    group_instance_id: str | None
    error_code: Int16


@message(key=13, versions=(0, 5), flexible=4)
class LeaveGroupResponse:
    """An error code; since v3 one for each member."""

    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    error_code: Int16
    members: list[MemberResponse] = field(since=3, default=[])
