"""PushTelemetry (key 72)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int8, Int16, Int32, Uuid, message


@message(key=72, versions=(0, 0), flexible=0)
class PushTelemetryRequest:
    """A client's metrics (KIP-714)."""

    client_instance_id: Uuid
    subscription_id: Int32
    terminating: Bool
    compression_type: Int8
    metrics: bytes


@message(key=72, versions=(0, 0), flexible=0)
class PushTelemetryResponse:
    """Whether they were taken."""

    throttle_time_ms: Int32
    error_code: Int16
