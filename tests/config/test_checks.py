"""The cases are what Apache Kafka 4.3.0 says of the same node; the sentences are ours."""

from __future__ import annotations

import pytest

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

GOOD = """
log.retention.ms=-7
log.retention.hours=-2
log.retention.minutes=5;log.retention.hours=1
replica.fetch.wait.max.ms=30000
log.cleaner.dedupe.buffer.size=1048577
offsets.topic.compression.codec=3
queued.max.request.bytes=0
max.connections.per.ip=0;max.connections.per.ip.overrides=127.0.0.1:5
broker.heartbeat.interval.ms=9000
group.coordinator.rebalance.protocols=classic,classic
broker.id=1
process.roles=broker;listeners=PLAINTEXT://:9092
process.roles=controller;listeners=CONTROLLER://:9093
listeners=plaintext://:9092,CONTROLLER://:9093
listeners=PLAINTEXT://[::1]:9092,CONTROLLER://:9093
listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0
advertised.listeners=PLAINTEXT://h:9092
advertised.listeners=PLAINTEXT://h:9092,CONTROLLER://h:9093
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,PLAINTEXT:SSL
controller.quorum.voters=1@localhost:9093
controller.quorum.voters=1@localhost:9093;controller.quorum.bootstrap.servers=UNSET
cordoned.log.dirs=*
log.cleanup.policy=
log.cleaner.io.buffer.load.factor=5
log.local.retention.ms=999999999999
early.start.listeners=CONTROLLER
group.consumer.migration.policy=UPgrade
unknown.thing=1
"""
BAD = """
log.retention.ms=0
log.retention.hours=0
log.roll.ms=0
log.roll.jitter.ms=-1
replica.fetch.wait.max.ms=30001
replica.socket.timeout.ms=100
log.cleaner.dedupe.buffer.size=1048576
log.cleaner.threads=200
log.cleaner.threads=0
offsets.topic.compression.codec=9
share.coordinator.state.topic.compression.codec=9
queued.max.request.bytes=5
max.connections.per.ip=0
max.connections.per.ip.overrides=127.0.0.1:x
max.connections.per.ip.overrides=127.0.0.1
group.consumer.min.session.timeout.ms=50000
group.consumer.session.timeout.ms=61000
group.consumer.max.heartbeat.interval.ms=4000
group.consumer.heartbeat.interval.ms=50000
group.consumer.max.heartbeat.interval.ms=60000;group.consumer.heartbeat.interval.ms=46000
group.consumer.min.assignment.interval.ms=2000
group.share.max.delivery.count.limit=5;group.share.delivery.count.limit=6
group.share.min.record.lock.duration.ms=30000;group.share.record.lock.duration.ms=20000
group.share.max.partition.max.record.locks=2000;group.share.partition.max.record.locks=3000
group.share.max.size=100;group.share.max.share.sessions=50
group.streams.min.session.timeout.ms=50000
group.streams.num.standby.replicas=3
group.coordinator.rebalance.protocols=consumer
process.roles=
process.roles=foo
process.roles=UNSET
process.roles=broker
process.roles=controller
node.id=UNSET
broker.id=5
controller.listener.names=
controller.listener.names=NOPE
controller.listener.names=CONTROLLER,PLAINTEXT
listeners=
listeners=foo
listeners=PLAINTEXT://:9092
listeners=PLAINTEXT://:9092,CONTROLLER://:9092
listeners=PLAINTEXT://:9092,PLAINTEXT://:9094,CONTROLLER://:9093
listeners=FOO://:9092,CONTROLLER://:9093
listeners=SSL://:9092,CONTROLLER://:9093
advertised.listeners=PLAINTEXT://0.0.0.0:9092
advertised.listeners=SSL://h:9092
inter.broker.listener.name=NOPE
inter.broker.listener.name=CONTROLLER
inter.broker.listener.name=PLAINTEXT;security.inter.broker.protocol=PLAINTEXT
security.inter.broker.protocol=SASL_PLAINTEXT
listener.security.protocol.map=PLAINTEXT:FOO,CONTROLLER:PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT
listener.security.protocol.map=garbage
controller.quorum.bootstrap.servers=UNSET
controller.quorum.voters=2@localhost:9093
controller.quorum.voters=garbage
controller.quorum.bootstrap.servers=garbage
log.dirs=
log.dirs=/a, ,/b
cordoned.log.dirs=/x
early.start.listeners=NOPE
"""


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


def start(node: dict[str, str], line: str) -> None:
    for item in line.split(";"):
        name, _, value = item.partition("=")
        if value == "UNSET":
            del node[name]
        else:
            node[name] = value
    check_node(BrokerLayers(node).settings)


@pytest.mark.parametrize("line", lines(GOOD))
def test_a_node_starts_where_kafkas_starts(node: dict[str, str], line: str) -> None:
    start(node, line)
    assert node["node.id"] == "1"


@pytest.mark.parametrize("line", lines(BAD))
def test_a_node_stops_where_kafkas_stops(node: dict[str, str], line: str) -> None:
    with pytest.raises(ConfigError) as failure:
        start(node, line)
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
