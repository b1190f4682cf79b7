from __future__ import annotations

import pytest

from quire.config.quota import AddressQuotas, ClientQuotas
from quire.config.values import ConfigError


def test_quotas_are_named_with_underscores() -> None:
    assert [*ClientQuotas.declared, *AddressQuotas.declared] == [
        "producer_byte_rate",
        "consumer_byte_rate",
        "request_percentage",
        "controller_mutation_rate",
        "connection_creation_rate",
    ]


def test_without_a_quota_there_is_practically_no_limit() -> None:
    assert ClientQuotas.of({}).producer_byte_rate == 2**63 - 1
    assert ClientQuotas.of({"request_percentage": "12.5"}).request_percentage == 12.5


def test_an_address_cannot_have_a_negative_rate() -> None:
    with pytest.raises(ConfigError, match="connection_creation_rate"):
        AddressQuotas.of({"connection_creation_rate": "-1"})
