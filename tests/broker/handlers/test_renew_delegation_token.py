from __future__ import annotations

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest


@pytest.mark.parametrize("version", range(1, 3))
def test_not_without_a_name(version: int) -> None:
    response = Scene().ask(RenewDelegationTokenRequest(hmac=b"x", renew_period_ms=1), version)
    assert response.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    assert response.expiry_timestamp_ms == -1
