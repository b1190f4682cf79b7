"""node.pages: figures and state over HTTP, asked as a watcher would ask."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.node.scene import SETTINGS, format_machine, make_topic, on_machine
from tests.ports.conversations import Ear

from quire.config.values import ConfigError
from quire.coordination import Caller
from quire.node.boot import Node, start
from quire.node.pages import CONNECTIONS_MAX, HEAD_BYTES, PATIENCE_SECONDS
from quire.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from quire.sim.machine import Machine

WITH_PAGES = {**SETTINGS, "quire.http.listener": "b1:9644"}


async def asked(machine: Machine, node: Node, request: bytes) -> bytes:
    assert node.pages_address is not None
    ears: list[Ear] = []

    def accept(stream: Any) -> Ear:
        ears.append(Ear(stream))
        return ears[0]

    stream = await node._world.network.connect(node.pages_address, accept)
    stream.send([request])
    await asyncio.wait_for(ears[0].ended, 60)
    return bytes(ears[0].heard)


async def page(machine: Machine, node: Node, path: str) -> tuple[int, str]:
    answer = await asked(machine, node, f"GET {path} HTTP/1.1\r\nHost: b1\r\n\r\n".encode())
    head, _, body = answer.partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
    return int(head.split()[1]), body.decode()


async def started(machine: Machine) -> Node:
    format_machine(machine, WITH_PAGES)
    return await start(machine.boot(), WITH_PAGES)


def test_metrics_have_the_names_that_users_of_kafkas_exporters_know() -> None:
    async def main(machine: Machine) -> None:
        node = await started(machine)
        await make_topic(node, "orders", partitions=2)
        status, text = await page(machine, node, "/metrics")
        assert status == 200
        for line in (
            "kafka_server_kafkaserver_brokerstate 3",
            "kafka_server_replicamanager_underreplicatedpartitions 0",
            "kafka_server_replicamanager_partitioncount 2",
            "kafka_server_replicamanager_isrshrinks_total 0",
            "kafka_controller_kafkacontroller_activecontrollercount 1",
            "kafka_controller_kafkacontroller_globaltopiccount 1",
            "kafka_log_logcleanermanager_uncleanable_partitions_count 0",
            'kafka_log_log_logendoffset{topic="orders",partition="1"} 0',
            'kafka_server_delayedoperationpurgatory_purgatorysize{delayedOperation="Fetch"} 0',
        ):
            assert f"\n{line}\n" in text, line
        await node.stop()

    on_machine(main)


def test_groups_and_transactions_are_counted_where_they_are_coordinated() -> None:
    async def main(machine: Machine) -> None:
        node = await started(machine)
        await make_topic(node, "orders")
        await make_topic(node, "__consumer_offsets")
        commit = OffsetCommitRequest(
            group_id="g",
            member_id="",
            topics=[
                OffsetCommitRequestTopic(
                    name="orders",
                    partitions=[
                        OffsetCommitRequestPartition(
                            partition_index=0, committed_offset=3, committed_metadata=""
                        )
                    ],
                )
            ],
        )
        await node.broker.groups.ask("g", commit, Caller(9))
        _, text = await page(machine, node, "/metrics")
        for line in (
            'kafka_server_group_coordinator_metrics_group_count{protocol="classic",state="Empty"} 1',
            "kafka_coordinator_group_groupmetadatamanager_numgroups 1",
            "kafka_coordinator_group_groupmetadatamanager_numoffsets 1",
        ):
            assert f"\n{line}\n" in text, line
        await node.stop()

    on_machine(main)


def test_health_says_whether_clients_are_served() -> None:
    async def main(machine: Machine) -> None:
        node = await started(machine)
        status, text = await page(machine, node, "/health")
        assert (status, json.loads(text)["state"]) == (200, "running")
        assert await page(machine, node, "/alive") == (200, "alive\n")
        node.broker.state = type(node.broker.state).SHUTTING_DOWN
        status, text = await page(machine, node, "/health")
        assert (status, json.loads(text)["state"]) == (503, "shutting_down")
        node.broker.state = type(node.broker.state).RUNNING
        await node.stop()

    on_machine(main)


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /nothing HTTP/1.1\r\n\r\n", 404),
        (b"POST /metrics HTTP/1.1\r\n\r\n", 405),
        (b"\x00\x00\x00\x12\x00\x12\r\n\r\n", 400),
        (b"GET /metrics " + b"x" * HEAD_BYTES, 400),
    ],
)
def test_a_bad_request_is_told_so(request_bytes: bytes, status: int) -> None:
    async def main(machine: Machine) -> None:
        node = await started(machine)
        answer = await asked(machine, node, request_bytes)
        assert int(answer.split()[1]) == status
        await node.stop()

    on_machine(main)


def test_who_says_nothing_is_cut_off_and_too_many_are_refused() -> None:
    async def main(machine: Machine) -> None:
        node = await started(machine)
        assert node.pages_address is not None
        loop = asyncio.get_running_loop()
        ears: list[Ear] = []

        def accept(stream: Any) -> Ear:
            ears.append(Ear(stream))
            return ears[-1]

        for _ in range(CONNECTIONS_MAX):
            await node._world.network.connect(node.pages_address, accept)
        began = loop.time()
        assert await asked(machine, node, b"GET /alive HTTP/1.1\r\n\r\n") == b""
        assert loop.time() - began < PATIENCE_SECONDS / 2
        await asyncio.wait_for(ears[0].ended, 60)
        assert loop.time() - began >= PATIENCE_SECONDS / 2
        assert (await page(machine, node, "/alive"))[0] == 200
        await node.stop()

    on_machine(main)


def test_an_address_that_cannot_be_had_is_refused_by_the_settings_name() -> None:
    async def main(machine: Machine) -> None:
        settings = {**SETTINGS, "quire.http.listener": "b1:9092"}
        format_machine(machine, settings)
        with pytest.raises(ConfigError, match=r"quire\.http\.listener is b1:9092"):
            await start(machine.boot(), settings)

    on_machine(main)


def test_without_the_setting_nobody_listens() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        node = await start(machine.boot(), SETTINGS)
        assert node.pages_address is None
        await node.stop()

    on_machine(main)
