from __future__ import annotations

import pytest

from quire.config.broker.node import NodeSection
from quire.config.values import ConfigError


def test_a_node_must_say_who_it_is() -> None:
    required = [name for name, one in NodeSection.declared.items() if one.required]
    assert required == ["process.roles", "node.id", "controller.listener.names"]
    with pytest.raises(ConfigError, match=r"process.roles must be set"):
        NodeSection.of({"node.id": "1"})


def test_a_session_outlasts_several_heartbeats() -> None:
    node = NodeSection.of(
        {"process.roles": "broker", "node.id": "1", "controller.listener.names": "C"}
    )
    assert node.broker_session_timeout_ms > 4 * node.broker_heartbeat_interval_ms
