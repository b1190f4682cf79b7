"""The cases are answers of Apache Kafka 4.3.0 to the same questions."""

from __future__ import annotations

import pytest

from quire.config.broker import BrokerSettings
from quire.config.describe import (
    Described,
    Given,
    Source,
    describe_broker,
    describe_client_metrics,
    describe_cluster_default,
    describe_group,
    describe_topic,
)
from quire.config.layers import BrokerLayers
from quire.config.values import Kind


def texts_of(entry: Described) -> list[str]:
    return [f"{one.source.name}:{one.name}={one.value}" for one in entry.synonyms]


def one_of(entries: list[Described], name: str) -> Described:
    found = [entry for entry in entries if entry.name == name]
    assert len(found) == 1
    return found[0]


@pytest.fixture
def layered(node: dict[str, str]) -> BrokerLayers:
    static = {
        "log.retention.hours": "100",
        "log.roll.hours": "50",
        "log.index.interval.bytes": "8192",
        "made.up.setting": "5",
        "ssl.truststore.password": "abc",
    }
    cluster = {
        "min.insync.replicas": "2",
        "log.retention.ms": "0",
        "log.flush.interval.ms": "-5",
        "log.cleaner.io.buffer.load.factor": "5",
        "leader.replication.throttled.rate": "1000",
        "listener.name.plaintext.max.connections": "5",
        "custom.thing": "2",
    }
    broker = {
        "log.retention.ms": "1000000",
        "listener.name.plaintext.log.retention.ms": "4",
        "listener.name.plaintext.ssl.keystore.location": "/x",
        "custom.thing": "1",
    }
    return BrokerLayers(node | static, cluster=cluster, broker=broker)


@pytest.mark.parametrize(
    ("name", "value", "source", "read_only", "given"),
    [
        (
            "log.retention.ms", "1000000", Source.DYNAMIC_BROKER, False,
            ["DYNAMIC_BROKER:log.retention.ms=1000000",
             "DYNAMIC_DEFAULT_BROKER:log.retention.ms=0",
             "STATIC_BROKER:log.retention.hours=100", "DEFAULT:log.retention.hours=168"],
        ),
        ("log.retention.hours", "100", Source.STATIC_BROKER, True,
         ["STATIC_BROKER:log.retention.hours=100", "DEFAULT:log.retention.hours=168"]),
        ("log.retention.minutes", None, Source.DEFAULT, True, []),
        ("log.roll.ms", None, Source.DEFAULT, False, []),
        ("log.flush.interval.ms", "-5", Source.DYNAMIC_DEFAULT_BROKER, False,
         ["DYNAMIC_DEFAULT_BROKER:log.flush.interval.ms=-5",
          "DEFAULT:log.flush.scheduler.interval.ms=9223372036854775807"]),
        ("log.cleaner.io.buffer.load.factor", "5.0", Source.DYNAMIC_DEFAULT_BROKER, False,
         ["DYNAMIC_DEFAULT_BROKER:log.cleaner.io.buffer.load.factor=5",
          "DEFAULT:log.cleaner.io.buffer.load.factor=0.9"]),
        ("leader.replication.throttled.rate", "1000", Source.DYNAMIC_DEFAULT_BROKER, False,
         ["DYNAMIC_DEFAULT_BROKER:leader.replication.throttled.rate=1000"]),
        ("listener.name.plaintext.log.retention.ms", "4", Source.DYNAMIC_BROKER, True,
         ["DYNAMIC_BROKER:listener.name.plaintext.log.retention.ms=4",
          "DYNAMIC_BROKER:log.retention.ms=1000000", "DYNAMIC_DEFAULT_BROKER:log.retention.ms=0"]),
        ("listener.name.plaintext.ssl.keystore.location", "/x", Source.DYNAMIC_BROKER, True,
         ["DYNAMIC_BROKER:listener.name.plaintext.ssl.keystore.location=/x"]),
        ("broker.id", "1", Source.STATIC_BROKER, True,
         ["STATIC_BROKER:broker.id=1", "DEFAULT:broker.id=-1"]),
        ("num.partitions", "1", Source.DEFAULT, True, ["DEFAULT:num.partitions=1"]),
    ],
)  # fmt: skip
def test_a_brokers_setting_comes_with_all_that_was_given(
    layered: BrokerLayers, name: str, value: str | None, source: Source, read_only: bool,
    given: list[str],
) -> None:  # fmt: skip
    entry = one_of(describe_broker(layered, [name]), name)
    assert (entry.value, entry.source, entry.read_only) == (value, source, read_only)
    assert texts_of(entry) == given
    assert not entry.sensitive


@pytest.mark.parametrize(
    ("name", "kind", "read_only"),
    [
        ("ssl.truststore.password", Kind.PASSWORD, False),
        ("made.up.setting", Kind.UNKNOWN, True),
        ("custom.thing", Kind.UNKNOWN, True),
    ],
)
def test_secrets_and_unknown_settings_show_no_value(
    layered: BrokerLayers, name: str, kind: Kind, read_only: bool
) -> None:
    entry = one_of(describe_broker(layered), name)
    assert (entry.value, entry.kind, entry.sensitive) == (None, kind, True)
    assert entry.read_only is read_only
    assert {one.value for one in entry.synonyms} == {None}


def test_internal_settings_are_shown_only_where_they_are_set(node: dict[str, str]) -> None:
    internal = "unstable.api.versions.enable"
    assert describe_broker(BrokerLayers(node), [internal]) == []
    assert len(describe_broker(BrokerLayers(node | {internal: "true"}), [internal])) == 1
    shown = {entry.name for entry in describe_broker(BrokerLayers(node))}
    assert shown == {name for name, one in BrokerSettings.declared.items() if not one.internal}


def test_the_cluster_shows_only_what_was_given_for_all(layered: BrokerLayers) -> None:
    entries = describe_cluster_default(layered)
    assert {entry.name: entry.value for entry in entries} == {
        "custom.thing": None,
        "leader.replication.throttled.rate": "1000",
        "listener.name.plaintext.max.connections": "5",
        "log.cleaner.io.buffer.load.factor": "5",
        "log.flush.interval.ms": "-5",
        "log.retention.ms": "0",
        "min.insync.replicas": "2",
    }
    assert {entry.source for entry in entries} == {Source.DYNAMIC_DEFAULT_BROKER}
    assert texts_of(one_of(entries, "log.retention.ms")) == [
        "DYNAMIC_DEFAULT_BROKER:log.retention.ms=0"
    ]
    assert describe_cluster_default(layered, ["num.partitions"]) == []


@pytest.mark.parametrize(
    ("name", "value", "source", "given"),
    [
        ("segment.bytes", "2000000", Source.TOPIC,
         ["TOPIC:segment.bytes=2000000", "DEFAULT:log.segment.bytes=1073741824"]),
        ("cleanup.policy", "compact,delete", Source.TOPIC,
         ["TOPIC:cleanup.policy=compact,delete", "DEFAULT:log.cleanup.policy=delete"]),
        ("index.interval.bytes", "8192", Source.STATIC_BROKER,
         ["STATIC_BROKER:log.index.interval.bytes=8192", "DEFAULT:log.index.interval.bytes=4096"]),
        ("min.insync.replicas", "2", Source.DYNAMIC_DEFAULT_BROKER,
         ["DYNAMIC_DEFAULT_BROKER:min.insync.replicas=2", "DEFAULT:min.insync.replicas=1"]),
        ("segment.ms", "180000000", Source.DEFAULT, []),
        ("remote.storage.enable", "false", Source.DEFAULT, []),
        ("leader.replication.throttled.replicas", "", Source.DEFAULT, []),
        ("internal.segment.bytes", "100", Source.TOPIC, ["TOPIC:internal.segment.bytes=100"]),
    ],
)  # fmt: skip
def test_a_topics_setting_comes_with_all_that_was_given(
    layered: BrokerLayers, name: str, value: str, source: Source, given: list[str]
) -> None:
    overrides = {
        "segment.bytes": " 2000000 ",
        "cleanup.policy": "compact, delete",
        "internal.segment.bytes": "100",
    }
    entry = one_of(describe_topic(layered, overrides), name)
    assert (entry.value, entry.source, entry.read_only) == (value, source, False)
    assert texts_of(entry) == given
    assert entry.documentation


def test_a_topic_has_33_public_settings(layers: BrokerLayers) -> None:
    assert len(describe_topic(layers, {})) == 33
    assert [one.name for one in describe_topic(layers, {}, ["flush.ms", "x"])] == ["flush.ms"]


def test_a_group_is_described_with_the_brokers_defaults(layers: BrokerLayers) -> None:
    entries = describe_group(layers, {"share.auto.offset.reset": "by_duration:PT1H"})
    assert texts_of(one_of(entries, "share.auto.offset.reset")) == [
        "GROUP:share.auto.offset.reset=by_duration:PT1H",
        "DEFAULT:share.auto.offset.reset=latest",
    ]
    assert texts_of(one_of(entries, "consumer.session.timeout.ms")) == [
        "DEFAULT:group.consumer.session.timeout.ms=45000"
    ]
    assert len(entries) == 17


def test_client_metrics_have_no_synonyms_but_their_own(layers: BrokerLayers) -> None:
    entries = describe_client_metrics(layers, {"interval.ms": "1000"})
    assert one_of(entries, "interval.ms").synonyms == (
        Given("interval.ms", "1000", Source.CLIENT_METRICS),
    )
    assert one_of(entries, "match") == Described(
        "match",
        "",
        Source.DEFAULT,
        Kind.LIST,
        False,
        False,
        (),
        one_of(entries, "match").documentation,
    )
