from __future__ import annotations

import pytest
from tests.broker.scene import Scene

from quire.broker.call import ANONYMOUS, Client
from quire.broker.delegation_tokens import token_refusal
from quire.errors import ErrorCode
from quire.ports.network import Address
from quire.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest

MAP = "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SAFE:SASL_SSL,CERTIFIED:SSL"


@pytest.mark.parametrize(
    ("listener", "principal", "code"),
    [
        ("PLAINTEXT", "User:alice", ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
        ("CERTIFIED", ANONYMOUS, ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
        ("CERTIFIED", "User:alice", ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED),
        ("SAFE", "User:alice", ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED),
    ],
)
def test_who_may_not_ask_and_who_may_in_vain(
    listener: str, principal: str, code: ErrorCode
) -> None:
    scene = Scene(listener_security_protocol_map=MAP)
    client = Client(Address("127.0.0.1", 1), listener, principal)
    request = RenewDelegationTokenRequest(hmac=b"x", renew_period_ms=1)
    assert token_refusal(scene.broker, scene.call(request, 2, client)) == code
