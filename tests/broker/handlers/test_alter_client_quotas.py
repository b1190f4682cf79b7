from __future__ import annotations

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages import alter_client_quotas as quotas


def entry(user: str, key: str, value: float) -> quotas.AlterClientQuotasRequestEntryData:
    return quotas.AlterClientQuotasRequestEntryData(
        entity=[quotas.AlterClientQuotasRequestEntityData(entity_type="user", entity_name=user)],
        ops=[quotas.OpData(key=key, value=value, remove=False)],
    )


@pytest.mark.parametrize("version", range(2))
def test_limits_are_stored_and_kept_at_once(version: int) -> None:
    scene = Scene()
    request = quotas.AlterClientQuotasRequest(
        entries=[entry("alice", "producer_byte_rate", 5.0), entry("bob", "no_such", 1.0)],
        validate_only=False,
    )
    response = scene.ask(request, version)
    assert [one.error_code for one in response.entries] == [
        ErrorCode.NONE,
        ErrorCode.INVALID_REQUEST,
    ]
    assert scene.broker.quotas.active


def test_validate_only_stores_nothing() -> None:
    scene = Scene()
    request = quotas.AlterClientQuotasRequest(
        entries=[entry("alice", "producer_byte_rate", 5.0)], validate_only=True
    )
    assert scene.ask(request).entries[0].error_code == ErrorCode.NONE
    assert not scene.broker.quotas.active
