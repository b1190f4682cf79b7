"""The broker's way to the controller beside it, in a whole node."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.node.scene import CLIENT, SETTINGS, format_machine, on_machine

from quire.broker.controller_link import ControllerUnavailableError
from quire.config.layers import BrokerLayers
from quire.node.boot import start
from quire.node.controller_link import controller_settings
from quire.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from quire.sim.machine import Machine


def topic(name: str) -> CreateTopicsRequest:
    one = CreatableTopic(
        name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    return CreateTopicsRequest(topics=[one], timeout_ms=1000, validate_only=False)


def test_a_client_sees_what_it_asked_for_when_it_has_its_answer() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        node = await start(machine.boot(), SETTINGS)
        ask = node.broker.controller.ask
        for number in range(5):
            name = f"for-client-{number}"
            answer = await ask(topic(name), version=7, client=CLIENT)
            assert answer.topics[0].error_code == 0
            assert name in node.broker.image.topics
            assert node.broker.replicas.get(name, 0) is not None
        await node.stop()

    for seed in range(3):
        on_machine(main, seed=seed)


def test_the_brokers_own_questions_do_not_wait_for_what_is_published() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        node = await start(machine.boot(), SETTINGS)
        async with node.feed.at_rest():
            async with asyncio.timeout(5):
                answer = await node.broker.controller.ask(topic("own"), version=7)
            assert answer.topics[0].error_code == 0
            assert "own" not in node.broker.image.topics
        await node.feed.until(node.feed.image.offset)
        assert "own" in node.broker.image.topics
        await node.stop()

    on_machine(main)


def test_without_a_controller_in_office_nobody_answers() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        node = await start(machine.boot(), SETTINGS)
        assert node.controller is not None
        node.controller.leave_office()
        with pytest.raises(ControllerUnavailableError):
            await node.broker.controller.ask(topic("t"), version=7, client=CLIENT)
        node.crash()

    on_machine(main)


@pytest.mark.parametrize(
    ("setting", "text", "attribute", "value"),
    [
        ("num.partitions", "7", "num_partitions", 7),
        ("default.replication.factor", "2", "default_replication_factor", 2),
        ("min.insync.replicas", "2", "min_insync_replicas", 2),
        ("unclean.leader.election.enable", "true", "unclean_leader_election_enable", True),
        ("delete.topic.enable", "false", "delete_topic_enable", False),
        ("broker.session.timeout.ms", "1234", "broker_session_timeout_ms", 1234),
        ("metadata.max.idle.interval.ms", "99", "metadata_max_idle_interval_ms", 99),
        ("auto.leader.rebalance.enable", "false", "auto_leader_rebalance_enable", False),
        (
            "leader.imbalance.check.interval.seconds",
            "5",
            "leader_imbalance_check_interval_ms",
            5000,
        ),
        ("unclean.leader.election.interval.ms", "77", "unclean_leader_election_interval_ms", 77),
    ],
)
def test_the_controller_goes_by_the_settings_of_its_node(
    setting: str, text: str, attribute: str, value: Any
) -> None:
    told = controller_settings(BrokerLayers({**SETTINGS, setting: text}).settings, "cluster")
    assert getattr(told, attribute) == value
    assert told.cluster_id == "cluster"
