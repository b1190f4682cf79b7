from __future__ import annotations

import pytest

from quire.config.broker import BrokerSettings
from quire.config.broker.listener_names import base_name, declaration_of, listener_prefix


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("log.retention.ms", "log.retention.ms"),
        ("listener.name.x.ssl.keystore.location", "ssl.keystore.location"),
        ("listener.name.x.plain.sasl.jaas.config", "sasl.jaas.config"),
        ("listener.name.x.scram-sha-256.connections.max.reauth.ms", "connections.max.reauth.ms"),
        ("listener.name.x.plain.foo", "plain.foo"),
        ("listener.name.x", "listener.name.x"),
    ],
)
def test_a_name_without_its_listener_is_the_declared_one(name: str, base: str) -> None:
    assert base_name(name) == base
    assert declaration_of(name) is BrokerSettings.declared.get(base)


def test_listeners_are_written_in_lower_case_before_a_setting() -> None:
    assert listener_prefix("SASL_SSL") == "listener.name.sasl_ssl."
