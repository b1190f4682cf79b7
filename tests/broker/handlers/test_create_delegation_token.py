from __future__ import annotations

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages.create_delegation_token import CreateDelegationTokenRequest


@pytest.mark.parametrize("version", range(1, 4))
def test_not_without_a_name(version: int) -> None:
    response = Scene().ask(CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1), version)
    assert response.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    assert (response.principal_type, response.principal_name) == ("User", "alice")
    requester = response.token_requester_principal_type, response.token_requester_principal_name
    assert requester == (("User", "alice") if version >= 3 else ("", ""))


def test_for_another() -> None:
    request = CreateDelegationTokenRequest(
        owner_principal_type="User", owner_principal_name="bob", renewers=[], max_lifetime_ms=-1
    )
    response = Scene().ask(request)
    assert (response.principal_name, response.token_requester_principal_name) == ("bob", "alice")
