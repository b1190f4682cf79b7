from __future__ import annotations

import pytest

from quire.config.broker.network import NetworkSection
from quire.config.values import ConfigError


def test_a_request_of_100_mib_is_the_largest_by_default() -> None:
    network = NetworkSection.of({})
    assert network.socket_request_max_bytes == 100 * 1024 * 1024
    assert network.listeners == ("PLAINTEXT://:9092",)
    assert network.advertised_listeners is None


def test_a_node_listens_somewhere() -> None:
    with pytest.raises(ConfigError, match="listeners is ''"):
        NetworkSection.of({"listeners": ""})
