"""node.controller_host: decided at once, answered when safe, silent without an office."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.controller.world import CLUSTER_ID, SomeRules
from tests.node.scene import make_directory, on_machine

from quire.broker.controller_link import ControllerUnavailableError
from quire.controller.decision import Settings
from quire.metadata.records import MetadataRecord
from quire.node.controller_host import ControllerHost
from quire.node.feed import Feed
from quire.node.metadata_log import MetadataLog
from quire.node.quorum import Quorum, own_voter
from quire.node.tasks import Tasks
from quire.node.world import World
from quire.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from quire.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from quire.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from quire.protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from quire.protocol.messages.metadata_records import NoOpRecord
from quire.raft import machine as raft
from quire.raft.voters import VoterSet
from quire.sim.machine import Machine
from quire.storage.settings import LogSettings


class Rig:
    """A controller over its quorum."""

    def __init__(self, world: World) -> None:
        make_directory(world.disk, "/logs")
        self.log = MetadataLog.open(world, "/logs", LogSettings())
        self.feed = Feed(self.log)
        self.feed.load()
        self.tasks = Tasks()
        me = own_voter(1, b"d" * 16, [], with_ids=True)
        machine = raft.QuorumMachine(
            me,
            VoterSet([me]),
            self.log.read_quorum_state(),
            log_end_offset=self.log.end_offset,
            log_epoch=self.log.last_epoch,
            election_timeout_ms=1000,
            entropy=world.entropy,
        )
        self.quorum = Quorum(
            world,
            self.log,
            self.tasks,
            machine,
            kraft_version=1,
            listener="CONTROLLER",
            write_voters=self.log.end_offset == 0,
        )
        self.host = ControllerHost(
            world,
            self.quorum,
            settings=lambda: Settings(cluster_id=CLUSTER_ID),
            rules=SomeRules(),
            bootstrap=None,
        )
        self.quorum.start(self)

    def on_office(self, _epoch: int, start_offset: int) -> None:
        self.office_begins_behind = start_offset
        self.host.on_office(start_offset)

    def on_left_office(self, _epoch: int) -> None:
        self.host.leave_office()

    def on_committed(self, high_watermark: int) -> None:
        self.feed.on_committed(high_watermark)
        image, in_transaction = self.feed.image, self.feed.in_transaction
        self.host.on_committed(high_watermark, image, in_transaction=in_transaction)


def topic(name: str) -> CreateTopicsRequest:
    one = CreatableTopic(
        name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    return CreateTopicsRequest(topics=[one], timeout_ms=1000, validate_only=False)


def test_an_answer_comes_when_its_records_are_safe_and_a_readers_when_all_it_saw_is() -> None:
    async def main(machine: Machine) -> None:
        rig = Rig(machine.boot())
        await rig.host.in_office()
        await asyncio.sleep(1)
        answered: list[tuple[str, int]] = []

        async def ask(name: str, request: Any, version: int) -> None:
            await rig.host.ask(request, version=version)
            answered.append((name, rig.quorum.high_watermark))

        request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=-1)
        rig.tasks.start(ask("writer", topic("no broker: refused"), 7), "w")
        rig.tasks.start(ask("ids", request, 0), "i")
        reader = ListPartitionReassignmentsRequest(topics=None)
        rig.tasks.start(ask("reader", reader, 0), "r")
        await asyncio.sleep(0)
        end = rig.quorum.end_offset
        await asyncio.sleep(1)
        assert [name for name, _ in answered] == ["writer", "ids", "reader"]
        assert all(high_watermark >= end for _, high_watermark in answered)

    on_machine(main)


def test_without_an_office_nobody_answers() -> None:
    async def main(machine: Machine) -> None:
        rig = Rig(machine.boot())
        with pytest.raises(ControllerUnavailableError):
            await rig.host.ask(topic("t"), version=7)
        await rig.host.in_office()
        await asyncio.sleep(1)
        request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=-1)
        rig.quorum.append([MetadataRecord(NoOpRecord(), 0)])
        asking = asyncio.ensure_future(rig.host.ask(request, version=0))
        await asyncio.sleep(0)
        rig.quorum.resign()
        with pytest.raises(ControllerUnavailableError, match="left"):
            await asking
        with pytest.raises(ControllerUnavailableError):
            await rig.host.ask(topic("t"), version=7)

    on_machine(main)


def test_who_comes_back_takes_over_what_is_there() -> None:
    async def main(machine: Machine) -> None:
        rig = Rig(machine.boot())
        await rig.host.in_office()
        await asyncio.sleep(1)
        levels = rig.feed.image.features
        rig.tasks.drop()
        rig.host.leave_office()
        machine.lose_power()
        again = Rig(machine.boot())
        await again.host.in_office()
        assert again.office_begins_behind <= again.quorum.end_offset
        await asyncio.sleep(3)
        assert again.feed.image.features == levels
        assert again.quorum.end_offset > again.office_begins_behind + 3, "no-op records go on"
        again.host.leave_office()
        end = again.quorum.end_offset
        await asyncio.sleep(3)
        assert again.quorum.end_offset == end, "no timer of a former office does anything"

    for seed in range(5):
        on_machine(main, seed=seed)


def test_what_a_full_disk_refused_was_not_decided_and_can_be_asked_again() -> None:
    async def main(machine: Machine) -> None:
        rig = Rig(machine.boot())
        await rig.host.in_office()
        await asyncio.sleep(1)
        machine.fill_disk(0)
        end = rig.quorum.end_offset
        request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=-1)
        register = registration()
        with pytest.raises(ControllerUnavailableError, match="takes nothing"):
            await rig.host.ask(register, version=4)
        await asyncio.sleep(5)
        assert rig.quorum.end_offset == end
        assert rig.tasks.failure is None
        assert rig.host.machine is not None
        assert 1 not in rig.host.machine.image.brokers
        machine.empty_disk()
        answer = await rig.host.ask(register, version=4)
        assert answer.error_code == 0
        await asyncio.sleep(2)
        assert rig.quorum.high_watermark > end + 2
        assert (await rig.host.ask(request, version=0)).error_code != 0

    on_machine(main)


def test_any_other_failure_of_the_metadata_log_ends_the_node() -> None:
    async def main(machine: Machine) -> None:
        rig = Rig(machine.boot())
        await rig.host.in_office()
        machine.disk.faults.break_path("/logs")
        await asyncio.sleep(5)
        assert isinstance(rig.tasks.failure, OSError)

    on_machine(main)


def registration() -> BrokerRegistrationRequest:
    return BrokerRegistrationRequest(
        broker_id=1,
        cluster_id=CLUSTER_ID,
        incarnation_id=b"i" * 16,
        listeners=[Listener(name="PLAINTEXT", host="b1", port=9092, security_protocol=0)],
        features=[
            Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, low, high in (
                ("metadata.version", 7, 30),
                ("transaction.version", 0, 2),
                ("group.version", 0, 1),
                ("share.version", 0, 1),
                ("streams.version", 0, 1),
                ("eligible.leader.replicas.version", 0, 1),
            )
        ],
        rack=None,
        log_dirs=[b"d" * 16],
    )
