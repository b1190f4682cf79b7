from __future__ import annotations

import pytest

from quire.config.broker.ssl import STORES, SslSection
from quire.config.setting import BROKER
from quire.config.values import ConfigError


def test_stores_change_for_one_broker_at_a_time() -> None:
    assert {SslSection.declared[name].dynamic for name in STORES} == {BROKER}


def test_keys_and_passwords_are_secrets() -> None:
    secrets = {name for name, one in SslSection.declared.items() if one.sensitive}
    assert secrets == {
        "ssl.key.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.password",
        "ssl.truststore.certificates",
        "ssl.truststore.password",
    }


def test_client_authentication_is_written_in_lower_case() -> None:
    with pytest.raises(ConfigError, match="one of required, requested, none"):
        SslSection.of({"ssl.client.auth": "REQUIRED"})
