"""The cases are answers of Apache Kafka 4.3.0 to the same changes; the sentences are ours."""

from __future__ import annotations

import pytest

from quire.config.alter import (
    Alteration,
    Operation,
    altered,
    changes,
    judge_broker,
    judge_client_metrics,
    judge_cluster_default,
    judge_group,
    judge_topic,
    replaced,
)
from quire.config.broker import BrokerSettings
from quire.config.layers import BrokerLayers
from quire.config.topic import TopicSettings
from quire.config.values import ConfigError
from quire.errors import ErrorCode

SET, DELETE, APPEND, SUBTRACT = Operation


def code_of(failure: pytest.ExceptionInfo[ConfigError]) -> str:
    return failure.value.code.name


@pytest.mark.parametrize(
    ("current", "operation", "value", "result"),
    [
        (None, SET, "compact", "compact"),
        ("compact", DELETE, None, None),
        (None, DELETE, None, None),
        (None, APPEND, "compact", "delete,compact"),
        ("delete,compact", APPEND, "compact", "delete,compact"),
        ("delete,compact", SUBTRACT, "delete", "compact"),
        ("compact", SUBTRACT, "nothing", "compact"),
        ("compact", SUBTRACT, "compact,delete", ""),
        ("", APPEND, "compact", "compact"),
    ],
)
def test_an_operation_changes_one_text(
    current: str | None, operation: Operation, value: str | None, result: str | None
) -> None:
    before = {} if current is None else {"cleanup.policy": current}
    after = altered(TopicSettings, before, [Alteration("cleanup.policy", operation, value)])
    assert after.get("cleanup.policy") == result


@pytest.mark.parametrize(
    ("alterations", "code"),
    [
        ([Alteration("segment.bytes", APPEND, "5")], "INVALID_CONFIG"),
        ([Alteration("segment.bytes", SUBTRACT, "5")], "INVALID_CONFIG"),
        ([Alteration("made.up", APPEND, "1")], "INVALID_CONFIG"),
        ([Alteration("segment.bytes", SET, None)], "INVALID_REQUEST"),
        (
            [Alteration("segment.bytes", SET, "1"), Alteration("segment.bytes", SET, "2")],
            "INVALID_REQUEST",
        ),
    ],
)
def test_an_operation_that_makes_no_sense_is_refused(
    alterations: list[Alteration], code: str
) -> None:
    with pytest.raises(ConfigError) as failure:
        altered(TopicSettings, {}, alterations)
    assert code_of(failure) == code


def test_replacing_takes_exactly_what_is_given() -> None:
    assert replaced([("a", "1"), ("b", "")]) == {"a": "1", "b": ""}
    for given in ([("a", None)], [("a", "1"), ("a", "2")]):
        with pytest.raises(ConfigError) as failure:
            replaced(given)
        assert code_of(failure) == "INVALID_REQUEST"


def test_changes_are_what_must_be_stored() -> None:
    assert changes({"a": "1", "b": "2", "c": "3"}, {"b": "2", "c": "4", "d": "5"}) == {
        "a": None,
        "c": "4",
        "d": "5",
    }


@pytest.mark.parametrize(
    "texts",
    [
        {"segment.bytes": " 2000000 "},
        {"cleanup.policy": ""},
        {"cleanup.policy": "compact, delete"},
        {"cleanup.policy": "compact,compact"},
        {"compression.gzip.level": "-1"},
        {"preallocate": "TRUE"},
        {"leader.replication.throttled.replicas": "*"},
        {"leader.replication.throttled.replicas": "0:1,1:2"},
        {"leader.replication.throttled.replicas": ""},
        {"local.retention.ms": "999999999999"},
        {"internal.segment.bytes": "100"},
        {"min.cleanable.dirty.ratio": "0.5f"},
        {"retention.ms": "+5000000000"},
    ],
)
def test_a_topic_takes_what_kafkas_takes(layers: BrokerLayers, texts: dict[str, str]) -> None:
    judge_topic(layers, {}, texts)
    assert layers.topic(texts).given.keys() >= texts.keys()


@pytest.mark.parametrize(
    ("texts", "named"),
    [
        ({"segment.bytes": "100"}, "segment.bytes"),
        ({"segment.bytes": "abc"}, "segment.bytes"),
        ({"segment.bytes": "99999999999"}, "segment.bytes"),
        ({"segment.bytes": ""}, "segment.bytes"),
        ({"cleanup.policy": "foo"}, "cleanup.policy"),
        ({"cleanup.policy": "compact,"}, "cleanup.policy"),
        ({"unknown.key": "1"}, "unknown.key"),
        ({"message.timestamp.difference.max.ms": "5"}, "message.timestamp.difference.max.ms"),
        ({"min.insync.replicas": "0"}, "min.insync.replicas"),
        ({"compression.type": "foo"}, "compression.type"),
        ({"compression.gzip.level": "0"}, "compression.gzip.level"),
        ({"preallocate": "yes"}, "preallocate"),
        ({"message.timestamp.type": "createtime"}, "message.timestamp.type"),
        ({"leader.replication.throttled.replicas": "x"}, "leader.replication.throttled.replicas"),
        (
            {"leader.replication.throttled.replicas": "0:1,*"},
            "leader.replication.throttled.replicas",
        ),
        ({"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"}, "min.compaction.lag.ms"),
        ({"remote.storage.enable": "true"}, "remote.storage.enable"),
        ({"min.cleanable.dirty.ratio": "1.5"}, "min.cleanable.dirty.ratio"),
        ({"retention.ms": "0x10"}, "retention.ms"),
        ({"retention.ms": "1_000"}, "retention.ms"),
    ],
)
def test_a_topic_refuses_what_kafkas_refuses(
    layers: BrokerLayers, texts: dict[str, str], named: str
) -> None:
    with pytest.raises(ConfigError) as failure:
        judge_topic(layers, {}, texts)
    assert code_of(failure) == "INVALID_CONFIG"
    assert failure.value.setting == named
    assert named in failure.value.message


@pytest.mark.parametrize(
    "texts",
    [
        {"log.retention.ms": "1000000"},
        {"listener.name.plaintext.ssl.keystore.location": "/x"},
        {"listener.name.plaintext.num.network.threads": "4"},
        {"listener.name.plaintext.num.partitions": "4"},
        {"custom.thing": "1"},
        {"log.cleanup.policy": ""},
        {"num.io.threads": "16"},
        {"max.connections.per.ip.overrides": "127.0.0.1:5"},
        {"metric.reporters": ""},
        {"unclean.leader.election.enable": "true"},
    ],
)
def test_a_broker_takes_what_kafkas_takes(layers: BrokerLayers, texts: dict[str, str]) -> None:
    judge_broker(layers, texts, elr=True)
    assert layers.with_dynamic(cluster={}, broker=texts).problems == ()


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        ({"node.id": "3"}, "INVALID_REQUEST"),
        ({"num.partitions": "3"}, "INVALID_REQUEST"),
        ({"log.retention.hours": "3"}, "INVALID_REQUEST"),
        ({"log.segment.bytes": "5"}, "INVALID_REQUEST"),
        ({"log.segment.bytes": "x"}, "INVALID_REQUEST"),
        ({"listener.name.plaintext.num.network.threads": "x"}, "INVALID_REQUEST"),
        ({"num.io.threads": "100"}, "INVALID_REQUEST"),
        ({"num.io.threads": "3"}, "INVALID_REQUEST"),
        ({"num.io.threads": "0"}, "INVALID_REQUEST"),
        ({"log.cleaner.threads": "100"}, "INVALID_REQUEST"),
        ({"log.cleaner.threads": "0"}, "INVALID_REQUEST"),
        ({"ssl.keystore.password": "secret"}, "INVALID_REQUEST"),
        ({"max.connections.per.ip": "0"}, "INVALID_REQUEST"),
        ({"max.connections.per.ip.overrides": "garbage"}, "INVALID_REQUEST"),
        ({"log.message.timestamp.type": "x"}, "INVALID_REQUEST"),
        ({"log.roll.ms": "0"}, "INVALID_REQUEST"),
        ({"leader.replication.throttled.rate": "-1"}, "INVALID_REQUEST"),
        ({"min.insync.replicas": "2"}, "INVALID_CONFIG"),
    ],
)
def test_a_broker_refuses_what_kafkas_refuses(
    layers: BrokerLayers, texts: dict[str, str], code: str
) -> None:
    with pytest.raises(ConfigError) as failure:
        judge_broker(layers, texts, elr=True)
    assert code_of(failure) == code
    assert failure.value.setting is not None
    assert failure.value.setting in failure.value.message


@pytest.mark.parametrize(
    ("texts", "setting"),
    [
        ({"listeners": "PLAINTEXT://:1"}, "listeners"),
        ({"cordoned.log.dirs": "/x"}, "cordoned.log.dirs"),
        ({"ssl.keystore.location": "/x"}, "ssl.keystore.location"),
        ({"num.partitions": "3"}, "num.partitions"),
        ({"listener.name.a.ssl.cipher.suites": "x"}, "listener.name.a.ssl.cipher.suites"),
        ({"log.local.retention.ms": "999999999999"}, "log.local.retention.ms"),
    ],
)
def test_the_cluster_refuses_what_kafkas_refuses(
    layers: BrokerLayers, texts: dict[str, str], setting: str
) -> None:
    with pytest.raises(ConfigError) as failure:
        judge_cluster_default(layers, texts, elr=False)
    assert (code_of(failure), failure.value.setting) == ("INVALID_REQUEST", setting)


def test_the_cluster_takes_what_kafkas_takes(layers: BrokerLayers) -> None:
    texts = {
        "listener.name.plaintext.max.connections": "5",
        "custom.thing": "2",
        "min.insync.replicas": "2",
        "log.retention.ms": "-5",
        "producer.id.expiration.ms": "5",
    }
    judge_cluster_default(layers, texts, elr=True)
    assert layers.with_dynamic(cluster=texts, broker={}).settings.min_insync_replicas == 2


def test_with_eligible_leader_replicas_the_cluster_keeps_its_min_isr(node: dict[str, str]) -> None:
    layers = BrokerLayers(node, cluster={"min.insync.replicas": "2"})
    with pytest.raises(ConfigError) as failure:
        judge_cluster_default(layers, {}, elr=True)
    assert code_of(failure) == "INVALID_CONFIG"
    judge_cluster_default(layers, {}, elr=False)
    judge_broker(layers, {"min.insync.replicas": "1"}, elr=False)


def test_what_was_stored_before_may_stay(node: dict[str, str]) -> None:
    layers = BrokerLayers(node, broker={"num.partitions": "3", "num.io.threads": "64"})
    judge_broker(layers, {"num.partitions": "3", "num.io.threads": "64"}, elr=True)
    deleted = altered(BrokerSettings, layers.broker, [Alteration("num.partitions", DELETE)])
    assert deleted == {"num.io.threads": "64"}


@pytest.mark.parametrize(
    ("texts", "refused"),
    [
        ({"consumer.session.timeout.ms": "50000"}, None),
        ({"share.auto.offset.reset": "by_duration:PT1H"}, None),
        ({"consumer.session.timeout.ms": "1"}, "consumer.session.timeout.ms"),
        ({"consumer.heartbeat.interval.ms": "60000"}, "consumer.heartbeat.interval.ms"),
        ({"share.delivery.count.limit": "50"}, "share.delivery.count.limit"),
        ({"share.auto.offset.reset": "LATEST"}, "share.auto.offset.reset"),
        ({"unknown": "1"}, "unknown"),
    ],
)
def test_a_group_stays_within_the_brokers_bounds(
    layers: BrokerLayers, texts: dict[str, str], refused: str | None
) -> None:
    if refused is None:
        judge_group(layers, texts)
        return
    with pytest.raises(ConfigError) as failure:
        judge_group(layers, texts)
    assert (failure.value.code, failure.value.setting) == (ErrorCode.INVALID_CONFIG, refused)


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        ({"interval.ms": "1"}, "INVALID_REQUEST"),
        ({"interval.ms": "3600001"}, "INVALID_REQUEST"),
        ({"match": "foo=x"}, "INVALID_CONFIG"),
        ({"match": "client_id=["}, "INVALID_CONFIG"),
        ({"match": "client_id"}, "INVALID_CONFIG"),
        ({"zzz": "1"}, "INVALID_REQUEST"),
    ],
)
def test_client_metrics_refuse_what_kafkas_refuse(texts: dict[str, str], code: str) -> None:
    judge_client_metrics({"interval.ms": "1000", "match": "client_id=x", "metrics": "org.apache"})
    with pytest.raises(ConfigError) as failure:
        judge_client_metrics(texts)
    assert code_of(failure) == code
