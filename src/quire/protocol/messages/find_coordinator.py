"""FindCoordinator (key 10)."""

from __future__ import annotations

from quire.protocol.schema import Int8, Int16, Int32, field, message, structure


@message(key=10, versions=(0, 6), flexible=3)
class FindCoordinatorRequest:
    """Which broker coordinates a key. v1 transactions · v4 several keys (KIP-699) · v6 share
    groups (KIP-932).
    """

    key: str = field(until=3, default="")
    key_type: Int8 = field(since=1, default=0)
    coordinator_keys: list[str] = field(since=4, default=[])


@structure
class Coordinator:
    key: str
    node_id: Int32
    host: str
    port: Int32
    error_code: Int16
    error_message: str | None


@message(key=10, versions=(0, 6), flexible=3)
class FindCoordinatorResponse:
    """The coordinator of the key; v4 of each key."""

    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    error_code: Int16 = field(until=3, default=0)
    error_message: str | None = field(since=1, until=3, default="", ignorable=True)
    node_id: Int32 = field(until=3, default=0)
    host: str = field(until=3, default="")
    port: Int32 = field(until=3, default=0)
    coordinators: list[Coordinator] = field(since=4, default=[])
