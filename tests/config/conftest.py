from __future__ import annotations

import pytest

from quire.config.layers import BrokerLayers

NODE = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "controller.quorum.bootstrap.servers": "localhost:9093",
}


@pytest.fixture
def node() -> dict[str, str]:
    """The texts of the smallest node that may start."""
    return dict(NODE)


@pytest.fixture
def layers(node: dict[str, str]) -> BrokerLayers:
    return BrokerLayers(node)
