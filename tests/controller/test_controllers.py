from __future__ import annotations

from tests.controller.test_features import at_level
from tests.controller.world import World, incarnation, kinds

from quire.errors import ErrorCode
from quire.metadata.features import FEATURES
from quire.protocol.messages import controller_registration as registrations


def request(controller_id=3, **more):
    values = {
        "incarnation_id": incarnation(9),
        "zk_migration_ready": False,
        "listeners": [
            registrations.Listener(name="CONTROLLER", host="h", port=9093, security_protocol=0)
        ],
        "features": [
            registrations.Feature(
                name=one.name, min_supported_version=one.lowest, max_supported_version=one.highest
            )
            for one in FEATURES
        ],
    }
    return registrations.ControllerRegistrationRequest(
        controller_id=controller_id, **(values | more)
    )


def test_controllers_register_any_number_of_them_and_again():
    world = World()
    for controller_id in (1, 2, 3, 2):
        assert kinds(world.do(request(controller_id))) == ["RegisterController"]
    assert sorted(world.image.controllers) == [1, 2, 3]
    assert world.image.controllers[3].endpoints[0].port == 9093


def test_a_controller_that_lacks_a_finalized_level_is_refused():
    world = World()
    response = world.do(
        request(
            features=[
                registrations.Feature(
                    name="metadata.version", min_supported_version=1, max_supported_version=7
                )
            ]
        )
    ).response
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert response.error_message
    assert dict(world.image.controllers) == {}


def test_older_levels_have_no_registrations_of_controllers():
    response = at_level(14).do(request()).response
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
