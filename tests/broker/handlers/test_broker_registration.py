from __future__ import annotations

from typing import Any

import pytest
from tests.broker.scene import BY_CONTROLLER, Scene

from quire.errors import ErrorCode


@pytest.mark.parametrize("version", range(2, 5))
def test_a_broker_registers_with_the_active_controller(version: int) -> None:
    scene = Scene()
    more: dict[str, Any] = {} if version >= 3 else {"previous_epoch": -1}
    request = scene.world.registration(2, **more)
    response = scene.ask(request, version, client=BY_CONTROLLER)
    assert response.error_code == ErrorCode.NONE
    assert scene.world.image.brokers[2].broker_epoch == response.broker_epoch
    assert scene.world.image.brokers[2].fenced


def test_a_controller_that_is_not_active_says_so() -> None:
    scene = Scene()
    scene.link.away = 1
    response = scene.ask(scene.world.registration(2), client=BY_CONTROLLER)
    assert (response.error_code, response.broker_epoch) == (ErrorCode.NOT_CONTROLLER, -1)
    assert 2 not in scene.world.image.brokers
