from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.config.group import GroupSettings
from quire.config.layers import BrokerLayers, problems_of, valid_values, with_both_ids
from quire.config.topic import TopicSettings
from quire.config.values import ConfigError

HOUR_MS = 3_600_000
sizes = st.integers(1 << 20, 1 << 30).map(str)
maybe = st.one_of(st.none(), sizes)


def test_one_broker_comes_before_all_before_the_file_before_the_default(
    node: dict[str, str],
) -> None:
    name = "log.segment.bytes"
    assert BrokerLayers(node).settings.log_segment_bytes == 1 << 30
    file = node | {name: "2000000"}
    assert BrokerLayers(file).settings.log_segment_bytes == 2_000_000
    cluster = BrokerLayers(file, cluster={name: "3000000"})
    assert cluster.settings.log_segment_bytes == 3_000_000
    broker = cluster.with_dynamic(cluster=cluster.cluster, broker={name: "4000000"})
    assert broker.settings.log_segment_bytes == 4_000_000
    assert broker.topic().segment_bytes == 4_000_000
    assert broker.topic({"segment.bytes": "5000000"}).segment_bytes == 5_000_000
    assert (broker.text(name), broker.text("made.up")) == ("4000000", None)


@given(file=maybe, cluster=maybe, broker=maybe, topic=maybe)
def test_the_first_layer_that_speaks_wins(
    file: str | None, cluster: str | None, broker: str | None, topic: str | None
) -> None:
    def texts(name: str, text: str | None) -> dict[str, str]:
        return {} if text is None else {name: text}

    required = {"process.roles": "broker", "node.id": "1", "controller.listener.names": "C"}
    layers = BrokerLayers(
        required | texts("log.segment.bytes", file),
        cluster=texts("log.segment.bytes", cluster),
        broker=texts("log.segment.bytes", broker),
    )
    spoken = [text for text in (topic, broker, cluster, file, str(1 << 30)) if text is not None]
    assert layers.topic(texts("segment.bytes", topic)).segment_bytes == int(spoken[0])


@pytest.mark.parametrize(
    ("texts", "retention_ms"),
    [
        ({}, 168 * HOUR_MS),
        ({"log.retention.hours": "2"}, 2 * HOUR_MS),
        ({"log.retention.hours": "2", "log.retention.minutes": "3"}, 180_000),
        ({"log.retention.minutes": "3", "log.retention.ms": "5"}, 5),
        ({"log.retention.hours": "-1"}, -1),
        ({"log.retention.ms": "-7"}, -1),
    ],
)
def test_a_topic_inherits_the_finest_unit_that_is_set(
    node: dict[str, str], texts: dict[str, str], retention_ms: int
) -> None:
    assert BrokerLayers(node | texts).topic().retention_ms == retention_ms


def test_a_stored_text_that_is_refused_does_not_count_and_is_reported(node: dict[str, str]) -> None:
    layers = BrokerLayers(
        node | {"log.segment.bytes": "2000000"},
        cluster={"log.segment.bytes": "x", "num.partitions": "5"},
        broker={"custom.thing": "1", "listener.name.a.num.network.threads": "x"},
    )
    assert layers.settings.log_segment_bytes == 2_000_000
    assert layers.settings.num_partitions == 1
    assert [problem.setting for problem in layers.problems] == [
        "log.segment.bytes",
        "num.partitions",
    ]


def test_a_static_text_that_is_refused_stops_the_node(node: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"num.partitions is '0'"):
        BrokerLayers(node | {"num.partitions": "0"})


def test_unknown_static_names_are_reported(node: dict[str, str]) -> None:
    assert BrokerLayers(node | {"made.up": "1"}).settings.unknown == ("made.up",)


def test_a_listener_has_its_own_settings(node: dict[str, str]) -> None:
    layers = BrokerLayers(
        node | {"listener.name.plaintext.max.connections": "5"},
        broker={"listener.name.plaintext.num.network.threads": "4", "num.network.threads": "2"},
    )
    plaintext = layers.listener("PLAINTEXT")
    assert (plaintext.max_connections, plaintext.num_network_threads) == (5, 4)
    assert layers.listener("CONTROLLER").num_network_threads == 2
    assert layers.settings.max_connections == 2**31 - 1


def test_a_group_inherits_from_the_broker(node: dict[str, str]) -> None:
    layers = BrokerLayers(node | {"group.consumer.session.timeout.ms": "50000"})
    group = layers.group({"consumer.heartbeat.interval.ms": "6000", "made.up": "1"})
    assert group.consumer_session_timeout_ms == 50_000
    assert group.consumer_heartbeat_interval_ms == 6_000
    assert group.share_auto_offset_reset == "latest"
    assert group.unknown == ("made.up",)


def test_a_topics_stored_texts_are_forgiven_and_told_of() -> None:
    texts = {"segment.bytes": "14", "retention.ms": "5", "message.format.version": "3.0"}
    assert valid_values(TopicSettings, texts) == {"retention.ms": 5}
    assert [one.setting for one in problems_of(TopicSettings, texts)] == [
        "message.format.version",
        "segment.bytes",
    ]
    assert problems_of(GroupSettings, {}) == ()


def test_a_node_has_one_id_under_two_names() -> None:
    assert with_both_ids({"node.id": "5"}) == {"node.id": "5", "broker.id": "5"}
    assert with_both_ids({"broker.id": "5"}) == {"node.id": "5", "broker.id": "5"}
    assert with_both_ids({"broker.id": "5", "node.id": "6"}) == {"broker.id": "5", "node.id": "6"}
