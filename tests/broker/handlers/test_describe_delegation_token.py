from __future__ import annotations

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages.describe_delegation_token import DescribeDelegationTokenRequest


@pytest.mark.parametrize("version", range(1, 4))
def test_not_without_a_name(version: int) -> None:
    response = Scene().ask(DescribeDelegationTokenRequest(owners=None), version)
    assert response.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    assert response.tokens == []
