"""PushTelemetry: a client's metrics. They are checked; there is no plugin that wants them.

Versions   0; served, but not advertised: see dispatch
Not here   when a client may push (telemetry).
See        KIP-714
"""

from __future__ import annotations

from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.telemetry import CODECS
from quire.errors import CorruptBatchError, ErrorCode
from quire.protocol.messages.push_telemetry import PushTelemetryRequest, PushTelemetryResponse
from quire.records.compression import Compression, decompress

RESERVED: Final = (bytes(16), bytes(15) + b"\x01")
EXPANSION: Final = 100
"""How many times telemetry.max.bytes a push may be when it is decompressed."""


def handle(broker: Broker, call: Call) -> PushTelemetryResponse:
    """Answer; see the module."""
    request: PushTelemetryRequest = call.request
    return PushTelemetryResponse(throttle_time_ms=0, error_code=_code(broker, call, request))


def _code(broker: Broker, call: Call, request: PushTelemetryRequest) -> ErrorCode:
    if request.client_instance_id in RESERVED:
        return ErrorCode.INVALID_REQUEST
    code = broker.telemetry.pushed(
        call,
        request.client_instance_id,
        broker.image,
        broker.clock.monotonic_ms(),
        number=request.subscription_id,
        is_last=request.terminating,
    )
    if code is not ErrorCode.NONE:
        return code
    if request.compression_type not in (Compression.NONE, *CODECS):
        return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    most = broker.layers.settings.telemetry_max_bytes
    if len(request.metrics) > most:
        return ErrorCode.TELEMETRY_TOO_LARGE
    if request.metrics and request.compression_type != Compression.NONE:
        try:
            decompress(
                Compression(request.compression_type), request.metrics, limit=most * EXPANSION
            )
        except CorruptBatchError:
            return ErrorCode.INVALID_RECORD
    return ErrorCode.NONE
