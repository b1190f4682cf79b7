from __future__ import annotations

from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest

ME = bytes(range(16))


def test_a_client_is_told_what_to_push() -> None:
    scene = Scene(telemetry_max_bytes="5000")
    scene.world.set(16, "m", "metrics", "org.a")
    scene.catch_up()
    response = scene.ask(GetTelemetrySubscriptionsRequest(client_instance_id=ME))
    assert (response.error_code, response.client_instance_id) == (ErrorCode.NONE, ME)
    assert (response.requested_metrics, response.telemetry_max_bytes) == (["org.a"], 5000)
    assert (response.accepted_compression_types, response.delta_temporality) == (
        [4, 3, 1, 2],
        True,
    )


def test_who_has_no_id_yet_is_given_one() -> None:
    scene = Scene()
    nobody = GetTelemetrySubscriptionsRequest(client_instance_id=bytes(16))
    ids = {scene.ask(nobody).client_instance_id for _ in range(3)}
    assert len(ids) == 3
    assert bytes(16) not in ids


def test_asking_again_at_once_is_too_early() -> None:
    scene = Scene()
    scene.ask(GetTelemetrySubscriptionsRequest(client_instance_id=ME))
    response = scene.ask(GetTelemetrySubscriptionsRequest(client_instance_id=ME))
    assert response.error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
