from __future__ import annotations

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages.sasl_authenticate import SaslAuthenticateRequest


@pytest.mark.parametrize("version", range(3))
def test_where_nobody_authenticates_it_makes_no_sense(version: int) -> None:
    response = Scene().ask(SaslAuthenticateRequest(auth_bytes=b"\0a\0b"), version)
    assert (response.error_code, response.auth_bytes) == (ErrorCode.ILLEGAL_SASL_STATE, b"")
    assert response.error_message
