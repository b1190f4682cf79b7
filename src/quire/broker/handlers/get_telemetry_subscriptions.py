"""GetTelemetrySubscriptions: which metrics a client shall push, how often, and how compressed.

Who has no instance id yet is given one.

Versions   0; served, but not advertised: see dispatch
Not here   what subscriptions are (telemetry).
See        KIP-714
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.telemetry import CODECS
from quire.controller.topics import new_id
from quire.errors import ErrorCode
from quire.protocol.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from quire.protocol.schema import ZERO_UUID


def handle(broker: Broker, call: Call) -> GetTelemetrySubscriptionsResponse:
    """Answer; see the module."""
    request: GetTelemetrySubscriptionsRequest = call.request
    instance_id = request.client_instance_id
    if instance_id == ZERO_UUID:
        instance_id = new_id(broker.entropy)
    found = broker.telemetry.asked(call, instance_id, broker.image, broker.clock.monotonic_ms())
    if isinstance(found, ErrorCode):
        return GetTelemetrySubscriptionsResponse(
            throttle_time_ms=0,
            error_code=found,
            client_instance_id=ZERO_UUID,
            subscription_id=0,
            accepted_compression_types=[],
            push_interval_ms=0,
            telemetry_max_bytes=0,
            delta_temporality=False,
            requested_metrics=[],
        )
    return GetTelemetrySubscriptionsResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        client_instance_id=instance_id,
        subscription_id=found.number,
        accepted_compression_types=list(CODECS),
        push_interval_ms=found.interval_ms,
        telemetry_max_bytes=broker.layers.settings.telemetry_max_bytes,
        delta_temporality=True,
        requested_metrics=list(found.metrics),
    )
