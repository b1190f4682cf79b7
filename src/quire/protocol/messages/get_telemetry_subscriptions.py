"""GetTelemetrySubscriptions (key 71)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int8, Int16, Int32, Uuid, message


@message(key=71, versions=(0, 0), flexible=0)
class GetTelemetrySubscriptionsRequest:
    """Which metrics should a client push? (KIP-714)"""

    client_instance_id: Uuid


@message(key=71, versions=(0, 0), flexible=0)
class GetTelemetrySubscriptionsResponse:
    """A subscription: metrics, interval and codecs."""

    throttle_time_ms: Int32
    error_code: Int16
    client_instance_id: Uuid
    subscription_id: Int32
    accepted_compression_types: list[Int8]
    push_interval_ms: Int32
    telemetry_max_bytes: Int32
    delta_temporality: Bool
    requested_metrics: list[str]
