from __future__ import annotations

import pytest
from tests.broker.scene import BY_CONTROLLER, Scene

from quire.errors import ErrorCode
from quire.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest


def beat(epoch: int) -> BrokerHeartbeatRequest:
    return BrokerHeartbeatRequest(
        broker_id=1,
        broker_epoch=epoch,
        current_metadata_offset=10**6,
        want_fence=False,
        want_shut_down=False,
    )


@pytest.mark.parametrize("version", range(3))
def test_a_broker_is_told_that_it_lives(version: int) -> None:
    scene = Scene()
    response = scene.ask(beat(scene.broker.broker_epoch), version, client=BY_CONTROLLER)
    assert response.error_code == ErrorCode.NONE
    assert (response.is_caught_up, response.is_fenced, response.should_shut_down) == (
        True, False, False,
    )  # fmt: skip


def test_who_registered_anew_since_is_told_so() -> None:
    scene = Scene()
    response = scene.ask(beat(99_999), client=BY_CONTROLLER)
    assert response.error_code == ErrorCode.STALE_BROKER_EPOCH
