"""node.quorum: a quorum of one at work: elections, appends and commits on a disk that is slow or breaks."""

from __future__ import annotations

import asyncio
import json

from tests.node.scene import make_directory, on_machine

from quire.broker.quorum_view import Outcome
from quire.errors import ErrorCode
from quire.metadata.records import MetadataRecord
from quire.node.metadata_log import MetadataLog
from quire.node.quorum import Quorum, own_voter
from quire.node.tasks import Tasks
from quire.node.world import World
from quire.protocol.messages.metadata_records import NoOpRecord
from quire.raft import machine as raft
from quire.raft.snapshots import Controls
from quire.raft.voters import Voter, VoterSet
from quire.sim.machine import Machine
from quire.storage.settings import LogSettings

ME = own_voter(1, b"d" * 16, [("CONTROLLER", "localhost", 9093)], with_ids=True)
NO_OP = MetadataRecord(NoOpRecord(), 0)


class Rig:
    """A quorum of one, and what it told."""

    def __init__(self, world: World, *, kraft_version: int = 1, write_voters: bool = True) -> None:
        make_directory(world.disk, "/logs")
        self.log = MetadataLog.open(world, "/logs", LogSettings())
        self.tasks = Tasks()
        machine = raft.QuorumMachine(
            ME,
            VoterSet([ME]),
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
            kraft_version=kraft_version,
            listener="CONTROLLER",
            write_voters=write_voters,
        )
        self.told: list[tuple[str, int]] = []
        self.quorum.start(self)

    def on_office(self, epoch: int, start_offset: int) -> None:
        self.told += [("office", epoch), ("begins", start_offset)]

    def on_left_office(self, epoch: int) -> None:
        self.told.append(("left", epoch))

    def on_committed(self, high_watermark: int) -> None:
        self.told.append(("committed", high_watermark))


def test_one_voter_leads_and_commits_what_it_has_flushed() -> None:
    async def main(machine: Machine) -> None:
        rig = Rig(machine.boot())
        await asyncio.sleep(1)
        assert rig.told == [("office", 1), ("begins", 0), ("committed", 3)]
        assert rig.log.controls() == Controls(1, VoterSet([ME]))
        for _ in range(10):
            rig.quorum.append([NO_OP])
        assert rig.quorum.high_watermark == 3
        await asyncio.sleep(1)
        assert rig.quorum.high_watermark == rig.quorum.flushed_offset == rig.quorum.end_offset == 13
        commits = [offset for what, offset in rig.told if what == "committed"]
        assert len(commits) <= 3, "one flush serves all that came before it began"
        state = json.loads(
            machine.disk.open("/logs/__cluster_metadata-0/quorum-state").read(0, 999)
        )
        assert state == {
            "leaderId": 1,
            "leaderEpoch": 1,
            "votedId": -1,
            "votedDirectoryId": "AAAAAAAAAAAAAAAAAAAAAA",
            "data_version": 1,
        }

    on_machine(main)


def test_each_start_is_a_new_epoch_and_what_was_committed_is_there() -> None:
    async def main(machine: Machine) -> None:
        rig = Rig(machine.boot())
        await asyncio.sleep(1)
        rig.quorum.append([NO_OP, NO_OP])
        await asyncio.sleep(1)
        assert rig.quorum.high_watermark == 5
        rig.tasks.drop()
        machine.lose_power()
        again = Rig(machine.boot(), write_voters=False)
        await asyncio.sleep(1)
        assert again.quorum.epoch == 2
        assert again.told == [("office", 2), ("begins", 5), ("committed", 6)]

    for seed in range(10):
        on_machine(main, seed=seed)


def test_static_voters_leave_no_control_records_and_are_named_in_the_state() -> None:
    async def main(machine: Machine) -> None:
        rig = Rig(machine.boot(), kraft_version=0)
        await asyncio.sleep(1)
        assert rig.quorum.end_offset == 1
        assert rig.quorum.controls == Controls()
        state = json.loads(
            machine.disk.open("/logs/__cluster_metadata-0/quorum-state").read(0, 999)
        )
        assert state["currentVoters"] == [{"voterId": 1}]
        assert state["data_version"] == 0

    on_machine(main)


def test_an_error_of_the_disk_is_the_nodes_failure() -> None:
    async def main(machine: Machine) -> None:
        rig = Rig(machine.boot())
        await asyncio.sleep(1)
        rig.quorum.append([NO_OP])
        machine.disk.faults.break_path("/logs")
        failure = await rig.tasks.failed()
        assert isinstance(failure, OSError)
        assert rig.quorum.high_watermark == 3

    on_machine(main)


def test_who_resigns_says_so_and_leads_no_more() -> None:
    async def main(machine: Machine) -> None:
        rig = Rig(machine.boot())
        await asyncio.sleep(1)
        status = rig.quorum.status()
        assert status is not None
        assert (status.epoch, status.high_watermark, len(status.voters)) == (1, 3, 1)
        rig.quorum.resign()
        assert rig.told[-1] == ("left", 1)
        assert (rig.quorum.is_leader, rig.quorum.leader_id) == (False, -1)
        assert rig.quorum.status() is None

    on_machine(main)


def test_changes_of_the_voters_are_answered_as_far_as_they_go() -> None:
    async def main(machine: Machine) -> None:
        rig = Rig(machine.boot())
        await asyncio.sleep(1)
        other = Voter(2, b"o" * 16)
        loop = asyncio.get_running_loop()
        before = loop.time()
        late = await rig.quorum.add_voter(other, timeout_ms=5000, until_committed=True)
        assert (late.code, loop.time() - before) == (ErrorCode.REQUEST_TIMED_OUT, 5)
        twice = await rig.quorum.add_voter(ME, timeout_ms=5000, until_committed=True)
        assert twice.code is ErrorCode.DUPLICATE_VOTER
        unknown = await rig.quorum.remove_voter(2, b"o" * 16)
        assert unknown.code is ErrorCode.VOTER_NOT_FOUND
        last = await rig.quorum.remove_voter(1, b"d" * 16)
        assert last.code is not ErrorCode.NONE
        rig.quorum.resign()
        assert await rig.quorum.remove_voter(1, b"d" * 16) == Outcome(
            ErrorCode.NOT_LEADER_OR_FOLLOWER
        )

    on_machine(main)
