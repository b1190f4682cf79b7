from __future__ import annotations

import pytest
from tests.config.nodes import Node, nodes

from quire.config.checks import (
    check_change,
    check_group,
    check_node,
    check_topic,
    connection_overrides,
)
from quire.config.group import GroupSettings
from quire.config.layers import BrokerLayers
from quire.config.topic import TopicSettings
from quire.config.values import ConfigError


@pytest.mark.parametrize("node", [pytest.param(one, id=one.line) for one in nodes() if one.starts])
def test_a_node_starts_where_kafkas_starts(node: Node) -> None:
    layers = BrokerLayers(node.texts)
    check_node(layers.settings)
    assert layers.settings.node_id == 1


@pytest.mark.parametrize(
    "node", [pytest.param(one, id=one.line) for one in nodes() if not one.starts]
)
def test_a_node_stops_where_kafkas_stops(node: Node) -> None:
    with pytest.raises(ConfigError) as failure:
        check_node(BrokerLayers(node.texts).settings)
    assert failure.value.setting is not None
    assert failure.value.setting in failure.value.message


@pytest.mark.parametrize(
    ("overrides", "was_remote", "refused"),
    [
        ({}, False, None),
        ({"remote.storage.enable": "true"}, False, None),
        ({"remote.storage.enable": "true", "cleanup.policy": ""}, False, None),
        ({"remote.storage.enable": "true", "cleanup.policy": "compact"}, False, "remote.storage.enable"),
        ({"remote.storage.enable": "true", "retention.ms": "5", "local.retention.ms": "6"}, False,
         "local.retention.ms"),
        ({"remote.storage.enable": "true", "retention.ms": "5", "local.retention.ms": "-1"}, False,
         "local.retention.ms"),
        ({"remote.storage.enable": "true", "retention.bytes": "5", "local.retention.bytes": "6"},
         False, "local.retention.bytes"),
        ({"remote.storage.enable": "true", "remote.log.copy.disable": "true",
          "local.retention.ms": "5"}, False, "remote.log.copy.disable"),
        ({}, True, "remote.storage.enable"),
        ({"remote.log.delete.on.disable": "true"}, True, None),
    ],
)  # fmt: skip
def test_a_tiered_topic_follows_its_rules(
    node: dict[str, str], overrides: dict[str, str], was_remote: bool, refused: str | None
) -> None:
    layers = BrokerLayers(node | {"remote.log.storage.system.enable": "true"})
    topic: TopicSettings = layers.topic(overrides)
    if refused is None:
        check_topic(topic, layers.settings, was_remote=was_remote)
        return
    with pytest.raises(ConfigError) as failure:
        check_topic(topic, layers.settings, was_remote=was_remote)
    assert failure.value.setting == refused


def test_threads_at_most_double_or_halve_at_once(layers: BrokerLayers) -> None:
    def change(threads: int) -> None:
        after = layers.with_dynamic(cluster={"num.io.threads": str(threads)}, broker={})
        check_change(layers.settings, after.settings)

    for threads in (4, 8, 16):
        change(threads)
    for threads in (3, 17):
        with pytest.raises(ConfigError, match=r"num.io.threads is"):
            change(threads)


def test_a_groups_heartbeats_fit_into_its_session(node: dict[str, str]) -> None:
    layers = BrokerLayers(node | {"group.consumer.max.heartbeat.interval.ms": "60000"})
    group: GroupSettings = layers.group({"consumer.heartbeat.interval.ms": "45000"})
    with pytest.raises(ConfigError, match=r"must be less than consumer.session.timeout.ms"):
        check_group(group, layers.settings)


def test_overrides_of_connections_are_pairs() -> None:
    assert connection_overrides(" 127.0.0.1:5, ::1:6 ,") == {"127.0.0.1": 5, "::1": 6}
    assert connection_overrides("") == {}
