from __future__ import annotations

from typing import Any

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from quire.protocol.messages.push_telemetry import PushTelemetryRequest
from quire.records.compression import Compression, compress

ME = bytes(range(16))


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({}, ErrorCode.NONE),
        ({"metrics": b"anything"}, ErrorCode.NONE),
        ({"metrics": compress(Compression.ZSTD, b"x" * 9), "compression_type": 4}, ErrorCode.NONE),
        ({"metrics": b"no zstd", "compression_type": 4}, ErrorCode.INVALID_RECORD),
        ({"metrics": b"x" * 5001}, ErrorCode.TELEMETRY_TOO_LARGE),
        ({"compression_type": 9}, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        ({"subscription_id": 7}, ErrorCode.UNKNOWN_SUBSCRIPTION_ID),
        ({"client_instance_id": bytes(16)}, ErrorCode.INVALID_REQUEST),
        ({"client_instance_id": bytes(15) + b"\x01"}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_is_taken(more: dict[str, Any], code: ErrorCode) -> None:
    scene = Scene(telemetry_max_bytes="5000")
    asked = scene.ask(GetTelemetrySubscriptionsRequest(client_instance_id=ME))
    values: dict[str, Any] = {
        "client_instance_id": ME,
        "subscription_id": asked.subscription_id,
        "terminating": False,
        "compression_type": 0,
        "metrics": b"",
    }
    assert scene.ask(PushTelemetryRequest(**(values | more))).error_code == code
