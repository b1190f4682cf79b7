"""SyncGroup (key 14)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, field, message, structure


@structure
class SyncGroupRequestAssignment:
    member_id: str
    assignment: bytes


@message(key=14, versions=(0, 5), flexible=4)
class SyncGroupRequest:
    """The leader hands in the assignment, the others ask for theirs. v3 static members · v5
    protocol (KIP-559).
    """

    group_id: str
    generation_id: Int32
    member_id: str
    group_instance_id: str | None = field(since=3, default=None)
    protocol_type: str | None = field(since=5, default=None, ignorable=True)
    protocol_name: str | None = field(since=5, default=None, ignorable=True)
    assignments: list[SyncGroupRequestAssignment]


@message(key=14, versions=(0, 5), flexible=4)
class SyncGroupResponse:
    """This member's share. v5 protocol (KIP-559)."""

    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    error_code: Int16
    protocol_type: str | None = field(since=5, default=None, ignorable=True)
    protocol_name: str | None = field(since=5, default=None, ignorable=True)
    assignment: bytes
