from __future__ import annotations

import pytest
from tests.broker.scene import BY_CONTROLLER, Scene

from quire.errors import ErrorCode
from quire.protocol.messages.sasl_handshake import SaslHandshakeRequest


@pytest.mark.parametrize("version", range(2))
def test_where_nobody_authenticates_it_makes_no_sense(version: int) -> None:
    scene = Scene()
    for response in (
        scene.ask(SaslHandshakeRequest(mechanism="PLAIN"), version),
        scene.ask(SaslHandshakeRequest(mechanism="PLAIN"), version, client=BY_CONTROLLER),
    ):
        assert (response.error_code, response.mechanisms) == (ErrorCode.ILLEGAL_SASL_STATE, [])
