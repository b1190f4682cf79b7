"""The quorum's machine at work: its effects carried out on the metadata log, its answers told onwards.

Steps are taken on the loop, one at a time. What blocks (flushes, the file of votes) goes to the background, and the
machine is told when it is done; appends go on meanwhile, and one flush serves all that came before it began. For
handlers it is the QuorumView.

Invariants
  I1  States are persisted in the order in which the machine asked for them, each before it is told so.
  I2  At most one flush of the log runs, and what it covers was appended before it began.
  I3  An input/output error of the metadata log is the node's failure: it must not go on deciding. A full disk that
      refused an append whole is not: nothing was decided, and room may come back.
Not here   who votes and how far the log is safe (raft.machine), what the records say (feed, controller_host), other
           voters: boot refuses a set of more than one, and a new one never catches up.
See        KIP-595, KIP-853
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence
from functools import partial
from typing import Protocol

from quire.broker.flushing import is_disk_full
from quire.broker.quorum_view import Outcome, QuorumStatus, ReplicaProgress
from quire.errors import ErrorCode
from quire.metadata.records import MetadataRecord
from quire.node.metadata_log import Batch, MetadataLog, epoch_start
from quire.node.tasks import Tasks
from quire.node.world import World
from quire.protocol.schema import ZERO_UUID
from quire.raft import machine as raft
from quire.raft import quorum_state
from quire.raft.quorum_state import QuorumState
from quire.raft.snapshots import NO_CONTROLS, Controls
from quire.raft.voters import Voter, VoterEndpoint


class QuorumOwner(Protocol):
    """Whom the quorum tells what has become of it."""

    def on_office(self, epoch: int, start_offset: int) -> None:
        """We lead; what lies below `start_offset` was there before."""
        ...

    def on_left_office(self, epoch: int) -> None:
        """We lead no more."""
        ...

    def on_committed(self, high_watermark: int) -> None:
        """Everything below is safe."""
        ...


class Quorum:
    """See the module."""

    def __init__(
        self,
        world: World,
        log: MetadataLog,
        tasks: Tasks,
        machine: raft.QuorumMachine,
        *,
        kraft_version: int,
        listener: str,
        write_voters: bool,
    ) -> None:
        """`write_voters`: the log must be told who votes, for only formatting has said it or it has changed."""
        self.kraft_version = kraft_version
        self.listener = listener
        self._world = world
        self._log = log
        self._tasks = tasks
        self._machine = machine
        self._write_voters = write_voters
        self._owner: QuorumOwner | None = None
        self._to_persist: deque[QuorumState] = deque()
        self._persisting = False
        self._flushing = False
        self._flushed_to = 0
        self._writing: list[asyncio.Task[None]] = []

    @property
    def is_leader(self) -> bool:
        return self._machine.is_leader

    @property
    def leader_id(self) -> int:
        return self._machine.leader_id

    @property
    def epoch(self) -> int:
        return self._machine.epoch

    @property
    def high_watermark(self) -> int:
        """-1 until it is known."""
        return self._machine.high_watermark

    @property
    def end_offset(self) -> int:
        return self._log.end_offset

    @property
    def flushed_offset(self) -> int:
        """Everything below is durable here."""
        return self._flushed_to

    @property
    def voters(self) -> tuple[Voter, ...]:
        return tuple(self._machine.voters)

    @property
    def controls(self) -> Controls:
        """What a snapshot must say of the quorum."""
        if self.kraft_version == 0:
            return NO_CONTROLS
        return Controls(self.kraft_version, self._machine.voters)

    def start(self, owner: QuorumOwner) -> None:
        """Take part, once the log is open."""
        self._owner = owner
        self._step(raft.Started())

    def append(self, records: Sequence[MetadataRecord]) -> Batch:
        """As the leader: one more batch; it is safe when `on_committed` has passed it. OSError: it was not appended."""
        assert self.is_leader
        try:
            batch = self._log.append(records, epoch=self._machine.epoch)
        except OSError as error:
            if not is_disk_full(error) or self._log.log.failure is not None:
                self._tasks.fail(error)  # I3
            raise
        self._step(raft.Appended(self._log.end_offset))
        self._flush()
        return batch

    def resign(self) -> None:
        """Give up the office, where we have it."""
        self._step(raft.Resign())

    async def settle(self) -> None:
        """Return when nothing is being written any more: the log can be closed."""
        while self._writing:
            await asyncio.wait(self._writing)
            self._writing = [task for task in self._writing if not task.done()]

    def check(self) -> None:
        """Assert the machine's invariants."""
        self._machine.check()

    # --- what handlers may ask (broker.quorum_view) --------------------------------------------

    def status(self) -> QuorumStatus | None:
        if not self.is_leader:
            return None
        progress = tuple(
            ReplicaProgress(one.voter_id, one.directory_id, self._log.end_offset)
            for one in self._machine.voters
        )
        return QuorumStatus(self.epoch, self.high_watermark, progress, ())

    async def add_voter(self, voter: Voter, *, timeout_ms: int, until_committed: bool) -> Outcome:  # noqa: ARG002
        refused = self._change_refusal("adding")
        if refused is not None:
            return refused
        if self._machine.voters.get(voter.voter_id) is not None:
            message = f"The voter id {voter.voter_id} is already part of the set of voters."
            return Outcome(ErrorCode.DUPLICATE_VOTER, message)
        await asyncio.sleep(timeout_ms / 1000)
        message = f"Voter {voter.voter_id} did not catch up with the metadata log in time."
        return Outcome(ErrorCode.REQUEST_TIMED_OUT, message)

    async def remove_voter(self, voter_id: int, directory_id: bytes) -> Outcome:
        refused = self._change_refusal("removing")
        if refused is not None:
            return refused
        if not self._machine.voters.has(voter_id, directory_id):
            message = f"Voter {voter_id} is not part of the set of voters."
            return Outcome(ErrorCode.VOTER_NOT_FOUND, message)
        message = "The last voter cannot be removed."
        return Outcome(ErrorCode.INVALID_REQUEST, message)

    def _change_refusal(self, what: str) -> Outcome | None:
        if not self.is_leader:
            return Outcome(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if self.kraft_version > 0:
            return None
        message = f"Cluster doesn't support {what} voter because the kraft.version feature is 0"
        return Outcome(ErrorCode.UNSUPPORTED_VERSION, message)

    # --- inside -------------------------------------------------------------------------------

    def _step(self, event: raft.Event) -> None:
        effects = self._machine.step(event)
        self._machine.check()
        for effect in effects:
            self._carry_out(effect)

    def _carry_out(self, effect: raft.Effect) -> None:
        assert self._owner is not None
        match effect:
            case raft.Persist(state):
                self._to_persist.append(state)
                if not self._persisting:
                    self._persisting = True
                    self._write(self._persist(), "quorum-state")
            case raft.TakeOffice(epoch, granting):
                self._say("leads", epoch=epoch, voters=len(self._machine.voters))
                self._begin_epoch(epoch, granting)
                self._owner.on_office(epoch, self._machine.epoch_start_offset)
            case raft.LeaveOffice(epoch):
                self._say("leads no more", epoch=epoch)
                self._owner.on_left_office(epoch)
            case raft.Committed(high_watermark):
                self._owner.on_committed(high_watermark)
            case raft.AskVotes() | raft.SetElectionTimer():
                raise AssertionError("a quorum of one voter asks nobody")

    def _begin_epoch(self, epoch: int, granting: tuple[int, ...]) -> None:
        controls = self.controls if self._write_voters else NO_CONTROLS
        voter_ids = self._machine.voters.ids
        values = epoch_start(self._machine.me.voter_id, voter_ids, granting, controls)
        self._log.append_controls(values, controls, epoch=epoch)
        self._write_voters = False
        self._step(raft.Appended(self._log.end_offset))
        self._flush()

    def _flush(self) -> None:
        if not self._flushing:
            self._flushing = True
            self._write(self._flush_all(), "metadata flush")

    def _write(self, work: Coroutine[None, None, None], name: str) -> None:
        self._writing = [task for task in self._writing if not task.done()]
        self._writing.append(self._tasks.start(work, name))

    async def _flush_all(self) -> None:
        """Flush until everything appended is durable (I2)."""
        try:
            while self._flushed_to < self._log.end_offset:
                plan = self._log.begin_flush()
                try:
                    await self._world.background.run(plan.run)
                except OSError as error:
                    self._log.fail_flush(error)
                    raise  # I3
                self._log.finish_flush(plan)
                self._flushed_to = plan.end_offset
                self._step(raft.Flushed(plan.end_offset))
        finally:
            self._flushing = False

    async def _persist(self) -> None:
        try:
            while self._to_persist:
                state = self._to_persist.popleft()
                content = quorum_state.encode(
                    state, kraft_version=self.kraft_version, voter_ids=self._machine.voters.ids
                )
                await self._world.background.run(partial(self._log.write_quorum_state, content))
                self._step(raft.Persisted(state))
        finally:
            self._persisting = False

    def _say(self, text: str, **facts: object) -> None:
        self._world.journal.say("raft", "__cluster_metadata-0", text, **facts)


def own_voter(
    node_id: int, directory_id: bytes, endpoints: Sequence[tuple[str, str, int]], *, with_ids: bool
) -> Voter:
    """This node as a voter; without directory ids where the quorum does not know them."""
    return Voter(
        node_id,
        directory_id if with_ids else ZERO_UUID,
        tuple(VoterEndpoint(*one) for one in endpoints),
    )
