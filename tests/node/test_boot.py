"""node.boot: a whole node on a simulated machine: started, stopped, killed, started again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.node.scene import (
    GOLDEN,
    SETTINGS,
    bring,
    format_machine,
    make_topic,
    on_machine,
)
from tests.ports.conversations import Ear

from quire.broker.broker import BrokerState
from quire.config.values import ConfigError
from quire.errors import QuireError, StorageError
from quire.node.boot import Node, start
from quire.ports.network import Address
from quire.sim.machine import Machine
from quire.storage.clean_shutdown import read_clean_shutdown


async def restarted(machine: Machine, settings: dict[str, str] = SETTINGS) -> Node:
    return await start(machine.boot(), settings)


def test_a_formatted_machine_becomes_a_node_that_leads_and_serves() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        node = await restarted(machine)
        assert node.broker.state is BrokerState.RUNNING
        me = node.broker.image.brokers[1]
        assert me.is_active
        assert me.broker_epoch == node.broker.broker_epoch
        assert me.endpoints[0][:3] == ("PLAINTEXT", "b1", 9092)
        assert node.broker.image.controllers[1].endpoints[0].port == 9093
        assert node.listeners["CONTROLLER"].port == 9093
        await make_topic(node, "t", partitions=3)
        replica = node.broker.replicas.get("t", 2)
        assert replica is not None
        assert replica.leader is not None
        node.check()
        await node.stop()

    on_machine(main)


def test_a_clean_stop_is_kept_as_a_promise_and_topics_come_back() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        node = await restarted(machine)
        await make_topic(node, "t", partitions=2, retention_ms="1234567")
        topic_id = node.broker.image.topics["t"].topic_id
        epoch = node.broker.broker_epoch
        await node.stop()
        assert node.broker.state is BrokerState.NOT_RUNNING
        promise = read_clean_shutdown(machine.disk, "/logs/a")
        assert promise is not None
        assert promise.broker_epoch == epoch
        machine.lose_power()
        again = await restarted(machine)
        assert again.broker.image.topics["t"].topic_id == topic_id
        assert again.broker.image.config(2, "t") == {"retention.ms": "1234567"}
        replica = again.broker.replicas.get("t", 1)
        assert replica is not None
        assert replica.leader is not None
        assert replica.log.settings.retention_ms == 1_234_567
        assert again.broker.broker_epoch > epoch
        await again.stop()

    on_machine(main)


def test_a_node_that_is_killed_at_any_moment_starts_again_with_all_it_said() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        said: list[str] = []
        for life in range(4):
            node = await restarted(machine)
            assert set(said) <= set(node.broker.image.topics)
            for number in range(3):
                name = f"t-{life}-{number}"
                await make_topic(node, name)
                said.append(name)
            if life % 2:
                asyncio.get_running_loop().create_task(make_topic(node, f"unsaid-{life}"))
                await asyncio.sleep(0.003)
            node.crash()
            if life % 3:
                machine.kill()
            else:
                machine.lose_power()
        node = await restarted(machine)
        assert set(said) <= set(node.broker.image.topics)
        node.check()
        await node.stop()

    for seed in range(6):
        on_machine(main, seed=seed)


def test_after_a_kill_nobody_waits_for_the_session_of_the_dead_process() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        node = await restarted(machine)
        await make_topic(node, "t")
        node.crash()
        machine.kill()
        before = machine.clock.monotonic_ms()
        again = await restarted(machine)
        assert machine.clock.monotonic_ms() - before < 1000
        assert again.broker.broker_epoch > node.broker.broker_epoch
        await again.stop()

    on_machine(main)


def test_a_crash_leaves_nothing_that_runs_or_writes() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        node = await restarted(machine)
        await make_topic(node, "t")
        node.crash()
        await asyncio.sleep(0.1)
        machine.kill()
        lines = len(machine.disk.trace.lines)
        await asyncio.sleep(3600)
        assert len(machine.disk.trace.lines) == lines
        tasks = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
        assert tasks == []

    on_machine(main)


def test_a_node_on_kafkas_directory_has_its_topics_configs_and_voters() -> None:
    async def main(machine: Machine) -> None:
        bring(machine.disk, GOLDEN / "data-clean", "/logs/a")
        node = await restarted(machine)
        image = node.broker.image
        assert {"g-plain", "g-txn", "g-compact"} <= set(image.topics)
        replica = node.broker.replicas.get("g-plain", 0)
        assert replica is not None
        assert replica.log.log_end_offset == 15
        assert image.config(2, "g-compact")["cleanup.policy"] == "compact"
        voters = node.broker.quorum.voters
        assert [(one.voter_id, one.endpoints[0].port) for one in voters] == [(1, 9093)]
        assert voters == tuple(node.broker.quorum.voters)
        await node.stop()
        again = await restarted(machine)
        assert set(again.broker.image.topics) == set(image.topics)
        await again.stop()

    on_machine(main)


def test_a_static_voter_of_kafka_stays_one() -> None:
    async def main(machine: Machine) -> None:
        bring(machine.disk, GOLDEN / "kraft-version-0", "/logs/a")
        settings = {**SETTINGS, "controller.quorum.voters": "1@b1:9093"}
        node = await restarted(machine, settings)
        assert node.broker.quorum.kraft_version == 0
        await node.stop()

    on_machine(main)


def test_an_address_that_changed_is_told_to_the_quorum() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        node = await restarted(machine)
        await node.stop()
        moved = {**SETTINGS, "listeners": "PLAINTEXT://b1:9092,CONTROLLER://b1:0"}
        again = await restarted(machine, moved)
        port = again.listeners["CONTROLLER"].port
        assert port not in (0, 9093)
        assert again.broker.quorum.voters[0].endpoints[0].port == port
        await again.stop()
        third = await restarted(machine)
        assert third.broker.quorum.voters[0].endpoints[0].port == 9093
        await third.stop()

    on_machine(main)


def test_a_lost_metadata_directory_ends_the_node() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        node = await restarted(machine)
        machine.disk.faults.break_path("/logs/a")
        failure = await node.failed()
        assert isinstance(failure, OSError | StorageError)
        node.crash()

    on_machine(main)


def test_a_lost_log_directory_takes_only_its_partitions() -> None:
    async def main(machine: Machine) -> None:
        settings = {**SETTINGS, "log.dirs": "/logs/a,/logs/b"}
        format_machine(machine, settings)
        node = await restarted(machine, settings)
        await make_topic(node, "t", partitions=4)
        await asyncio.sleep(1)
        places = {one.topic_partition: one.hosted.log_dir.path for one in node.broker.replicas}
        assert sorted(places.values()) == ["/logs/a", "/logs/a", "/logs/b", "/logs/b"]
        known = node.broker.image.topics["t"].partitions
        ids = {one.path: one.meta.directory_id for one in node.broker.log_dirs.log_dirs if one.meta}
        assert {index: known[index].directories[0] for index in known} == {
            place.partition: ids[path] for place, path in places.items()
        }, "the controller learns where replicas are"
        machine.disk.faults.break_path("/logs/b")
        await asyncio.sleep(100)
        assert len(list(node.broker.replicas)) == 2
        leaders = {
            index: one.leader for index, one in node.broker.image.topics["t"].partitions.items()
        }
        assert sorted(leaders.values()) == [-1, -1, 1, 1]
        assert node.broker.image.brokers[1].directories == (ids["/logs/a"],)
        node.crash()

    on_machine(main)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"process.roles": "broker"}, "process.roles"),
        ({"controller.quorum.voters": "1@b1:9093,2@b2:9093"}, "controller.quorum.voters"),
        (
            {"listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT"},
            "listener.security.protocol.map gives listener PLAINTEXT",
        ),
        ({"listeners": "PLAINTEXT://b1:9092"}, "controller.listener.names"),
        ({"node.id": "2"}, "belongs to node 1"),
        ({"log.dirs": "/logs/other"}, "not formatted"),
        ({"num.partitions": "many"}, "num.partitions"),
    ],
)
def test_what_a_node_cannot_be_is_refused_by_name_and_nothing_is_held(
    change: dict[str, Any], words: str
) -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        with pytest.raises(QuireError, match=words):
            await restarted(machine, {**SETTINGS, **change})
        node = await restarted(machine)
        await node.stop()

    if change.get("process.roles") == "broker":
        change = {**change, "listeners": "PLAINTEXT://b1:9092"}
    on_machine(main)


def test_a_port_that_is_taken_is_refused_by_the_name_of_the_setting() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        world = machine.boot()
        taken = world.network.listen(Address("b1", 9092), Ear)
        with pytest.raises(ConfigError, match="listeners has PLAINTEXT://b1:9092"):
            await start(world, SETTINGS)
        taken.close()
        node = await start(world, SETTINGS)
        await node.stop()

    on_machine(main)


def test_settings_that_nobody_knows_are_told_and_ignored() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        node = await restarted(machine, {**SETTINGS, "zookeeper.connect": "x"})
        assert node.settings.unknown == ("zookeeper.connect",)
        await node.stop()

    on_machine(main)
