from __future__ import annotations

from tests.broker.scene import BY_CONTROLLER, Scene
from tests.controller.world import incarnation

from quire.errors import ErrorCode
from quire.protocol.messages.controller_registration import ControllerRegistrationRequest, Feature


def test_a_controller_that_lacks_a_level_is_refused_with_words() -> None:
    request = ControllerRegistrationRequest(
        controller_id=9,
        incarnation_id=incarnation(90),
        zk_migration_ready=False,
        listeners=[],
        features=[
            Feature(name="metadata.version", min_supported_version=1, max_supported_version=7)
        ],
    )
    scene = Scene()
    response = scene.ask(request, client=BY_CONTROLLER)
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert response.error_message
    assert not scene.world.image.controllers
