from __future__ import annotations

import pytest
from tests.config.nodes import SMALLEST

from quire.config.layers import BrokerLayers


@pytest.fixture
def node() -> dict[str, str]:
    """The texts of the smallest node that may start."""
    return dict(SMALLEST)


@pytest.fixture
def layers(node: dict[str, str]) -> BrokerLayers:
    return BrokerLayers(node)
