"""tools.doctor.cluster: scripted brokers in a simulated network, each wrong in one way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.clients.peer import Peer, Script, metadata, network
from tests.tools.config.test_describe import configs, entry

from quire.config.describe import Source
from quire.ports.network import Address
from quire.protocol.apis import ApiKey
from quire.protocol.messages import describe_quorum as quorum
from quire.protocol.messages.describe_log_dirs import (
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from quire.protocol.messages.metadata import MetadataResponse
from quire.sim import loop
from quire.tools.doctor.cluster import examine_cluster, room
from quire.tools.doctor.findings import Finding, Level

BROKER = Address("one", 9092)


def quorum_of(ends: Mapping[int, int], high_watermark: int) -> Script:
    def answer(_request: Any, _version: int) -> Any:
        partition = quorum.DescribeQuorumResponsePartitionData(
            partition_index=0,
            error_code=0,
            leader_id=1,
            leader_epoch=4,
            high_watermark=high_watermark,
            current_voters=[
                quorum.ReplicaState(replica_id=voter, log_end_offset=end)
                for voter, end in ends.items()
            ],
            observers=[],
        )
        topic = quorum.DescribeQuorumResponseTopicData(topic_name="x", partitions=[partition])
        return quorum.DescribeQuorumResponse(error_code=0, topics=[topic], nodes=[])

    return answer


def directories(error: int = 0, usable: int = 90, total: int = 100) -> Script:
    result = DescribeLogDirsResult(
        error_code=error, log_dir="/d", topics=[], usable_bytes=usable, total_bytes=total
    )
    return lambda _request, _version: DescribeLogDirsResponse(
        throttle_time_ms=0, error_code=0, results=[result]
    )


def replicas_of(isr: list[int], offline: list[int], leader: int = 1) -> Script:
    """One partition with two replicas."""
    known = metadata({1: BROKER}, {"t": {0: leader}})

    def answer(request: Any, version: int) -> MetadataResponse:
        told: MetadataResponse = known(request, version)
        for one in told.topics[0].partitions if told.topics else ():
            one.replica_nodes, one.isr_nodes, one.offline_replicas = [1, 2], isr, offline
        return told

    return answer


HEALTHY: dict[int, Script] = {
    ApiKey.METADATA: metadata({1: BROKER}, {"t": {0: 1}}),
    ApiKey.DESCRIBE_QUORUM: quorum_of({1: 10}, 10),
    ApiKey.DESCRIBE_CONFIGS: configs(
        [entry("offsets.topic.replication.factor", "1", Source.STATIC_BROKER)]
    ),
    ApiKey.DESCRIBE_LOG_DIRS: directories(),
}


def examined(
    scripts: Mapping[int, Script], bootstrap: tuple[Address, ...] = (BROKER,)
) -> list[Finding]:
    async def scene() -> list[Finding]:
        world = network()
        Peer(world, BROKER, {**HEALTHY, **scripts})
        world.machine("nobody")
        return await examine_cluster(world.machine("client"), bootstrap)

    return loop.run(scene)


def faults(found: list[Finding]) -> list[tuple[Level, str, str]]:
    return [one[:3] for one in found if one.level is not Level.FINE]


def test_a_healthy_cluster_has_no_fault() -> None:
    found = examined({})
    assert faults(found) == []
    assert {one.subject for one in found} == {
        "one:9092", "broker 1", "partitions", "quorum", "internal topics", "broker 1: /d",
    }  # fmt: skip


def test_who_does_not_answer_is_named_with_what_to_do() -> None:
    (one,) = examined({}, bootstrap=(Address("nobody", 1),))
    assert (one.level, one.subject) == (Level.WRONG, "nobody:1")
    assert "quire up" in one.remedy


@pytest.mark.parametrize(
    ("scripts", "subject", "words"),
    [
        (
            {ApiKey.METADATA: metadata({1: Address("nobody", 9092)}, {})},
            "broker 1",
            "advertises nobody:9092, which cannot be reached",
        ),
        (
            {ApiKey.METADATA: replicas_of([], [], leader=-1)},
            "partitions",
            "without a leader: t-0",
        ),
        ({ApiKey.METADATA: replicas_of([1], [2])}, "partitions", "with replicas offline: t-0"),
        (
            {
                ApiKey.DESCRIBE_CONFIGS: configs(
                    [entry("offsets.topic.replication.factor", "3", Source.DEFAULT)]
                )
            },
            "offsets.topic.replication.factor",
            "is 3, but there are 1 brokers",
        ),
        (
            {ApiKey.DESCRIBE_LOG_DIRS: directories(error=56)},
            "broker 1: /d",
            "does not work: KAFKA_STORAGE_ERROR",
        ),
    ],
)
def test_what_is_wrong_is_named(scripts: dict[int, Script], subject: str, words: str) -> None:
    (one,) = [one for one in examined(scripts) if one.level is Level.WRONG]
    assert one.subject == subject
    assert words in one.text
    assert one.remedy


@pytest.mark.parametrize(
    ("scripts", "subject", "words"),
    [
        ({ApiKey.METADATA: replicas_of([1], [])}, "partitions", "not all replicas in sync: t-0"),
        ({ApiKey.DESCRIBE_QUORUM: quorum_of({1: 9, 2: 5}, 9)}, "quorum", "voters 2 are behind"),
        ({ApiKey.DESCRIBE_LOG_DIRS: directories(usable=9)}, "broker 1: /d", "are free"),
    ],
)
def test_what_may_become_wrong_is_a_warning(
    scripts: dict[int, Script], subject: str, words: str
) -> None:
    (one,) = [one for one in examined(scripts) if one.level is not Level.FINE]
    assert (one.level, one.subject) == (Level.WARNING, subject)
    assert words in one.text


def test_loopback_addresses_given_to_others_are_a_trap() -> None:
    local = Address("localhost", 9092)

    async def scene() -> list[Finding]:
        world = network()
        scripts = {**HEALTHY, ApiKey.METADATA: metadata({1: local}, {})}
        Peer(world, BROKER, scripts)
        Peer(world, local, scripts)
        return await examine_cluster(world.machine("client"), [BROKER])

    warned = [one for one in loop.run(scene) if one.level is Level.WARNING]
    assert [one.subject for one in warned] == ["broker 1"]
    assert "advertised.listeners" in warned[0].remedy


def test_room_is_told_in_words() -> None:
    assert room("/d", 2**30, 2**31).text == "1.0 GiB of 2.0 GiB are free"
