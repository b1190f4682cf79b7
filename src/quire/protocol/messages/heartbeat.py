"""Heartbeat (key 12)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, field, message


@message(key=12, versions=(0, 4), flexible=4)
class HeartbeatRequest:
    """A classic member is alive. v3 static members (KIP-345)."""

    group_id: str
    generation_id: Int32
    member_id: str
    group_instance_id: str | None = field(since=3, default=None)


@message(key=12, versions=(0, 4), flexible=4)
class HeartbeatResponse:
    """Whether the member still belongs."""

    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    error_code: Int16
