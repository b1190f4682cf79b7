from __future__ import annotations

import pytest

from quire.config.broker import BrokerSettings
from quire.config.broker.endpoints import (
    Endpoint,
    advertised,
    controller_listeners,
    endpoints,
    inter_broker_listener,
    listening,
    protocol_map,
)
from quire.config.values import ConfigError


def settings(node: dict[str, str], **texts: str) -> BrokerSettings:
    return BrokerSettings.of(node | {name.replace("_", "."): text for name, text in texts.items()})


def test_an_address_reads_and_writes_back() -> None:
    items = ("PLAINTEXT://:9092", "SSL://[::1]:1", "C://h-1.x_y:0")
    found = endpoints("listeners", items)
    assert found == (
        Endpoint("PLAINTEXT", "", 9092),
        Endpoint("SSL", "::1", 1),
        Endpoint("C", "h-1.x_y", 0),
    )
    assert tuple(map(str, found)) == items


@pytest.mark.parametrize("item", ["foo", "a://b", "://h:1", "a://h:x", "a://h h:1"])
def test_what_is_no_address_is_refused(item: str) -> None:
    with pytest.raises(ConfigError, match="listeners has"):
        endpoints("listeners", (item,))


def test_clients_are_told_what_listens_without_controllers(node: dict[str, str]) -> None:
    assert advertised(settings(node)) == (Endpoint("PLAINTEXT", "", 9092),)
    told = settings(node, advertised_listeners="plaintext://h:5")
    assert advertised(told) == (Endpoint("PLAINTEXT", "h", 5),)


def test_controllers_speak_plaintext_unless_somebody_says_otherwise(node: dict[str, str]) -> None:
    plain = settings(node)
    assert controller_listeners(plain) == ("CONTROLLER",)
    assert protocol_map(plain)["CONTROLLER"] == "PLAINTEXT"
    secure = settings(node, listeners="SSL://:9092,CONTROLLER://:9093")
    assert "CONTROLLER" not in protocol_map(secure)
    mapped = settings(node, listener_security_protocol_map="PLAINTEXT:PLAINTEXT,x:sasl_ssl,")
    assert protocol_map(mapped) == {"PLAINTEXT": "PLAINTEXT", "X": "SASL_SSL"}


def test_brokers_meet_on_the_named_listener_or_on_their_protocols(node: dict[str, str]) -> None:
    assert inter_broker_listener(settings(node)) == "PLAINTEXT"
    named = settings(node, inter_broker_listener_name="inside")
    assert inter_broker_listener(named) == "INSIDE"
    assert [one.port for one in listening(named)] == [9092, 9093]
