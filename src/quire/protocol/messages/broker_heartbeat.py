"""BrokerHeartbeat (key 63)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int16, Int32, Int64, Uuid, field, message


@message(key=63, versions=(0, 2), flexible=0)
class BrokerHeartbeatRequest:
    """A broker is alive, and wants in or out (KIP-631). v1 failed directories (KIP-858) · v2
    cordoned ones (KIP-1066).
    """

    broker_id: Int32
    broker_epoch: Int64 = field(default=-1)
    current_metadata_offset: Int64
    want_fence: Bool
    want_shut_down: Bool
    offline_log_dirs: list[Uuid] = field(since=1, tag=0, default=[])
    cordoned_log_dirs: list[Uuid] | None = field(since=2, tag=1, default=None)


@message(key=63, versions=(0, 2), flexible=0)
class BrokerHeartbeatResponse:
    """Whether the broker is caught up, fenced, and may stop."""

    throttle_time_ms: Int32
    error_code: Int16
    is_caught_up: Bool = field(default=False)
    is_fenced: Bool = field(default=True)
    should_shut_down: Bool
