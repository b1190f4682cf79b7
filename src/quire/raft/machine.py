"""One node's part in the quorum: standing for election, holding office, and how far the log is safe.

    UNATTACHED   knows no leader           -> CANDIDATE when the election timer ends (at once when it votes alone)
    CANDIDATE    asks for votes            -> LEADER with a majority's; UNATTACHED when it sees a newer epoch
    LEADER       appends, counts flushes   -> RESIGNED when told to; UNATTACHED when it sees a newer epoch
    RESIGNED     leads no more             -> CANDIDATE when the election timer ends

`step` takes what happened and returns what is to be done, in order. The host writes files, appends batches, sends
requests and keeps timers; it tells the machine when a thing is done.

Invariants
  I1  The epoch never goes back, and in one epoch at most one vote is given.
  I2  A vote counts, our own too, only once it is persisted.
  I3  A leader has the votes of a majority of the voters in its epoch.
  I4  The high watermark never goes back, a majority holds everything below it flushed, and it moves only to offsets
      behind the first of the leader's own epoch.
  I5  Of our own log only what is flushed counts.
Not here   following a leader, and asking before standing (the cluster step adds both as roles); batches and
           files (node.metadata_log, node.quorum); which voters there are (voters).
See        KIP-595, KIP-853
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from quire.errors import QuireError
from quire.ports.entropy import Entropy
from quire.raft.quorum_state import NOBODY, QuorumState
from quire.raft.voters import Voter, VoterSet

UNKNOWN: Final = -1


class Role(Enum):
    """See the table above."""

    UNATTACHED = "unattached"
    CANDIDATE = "candidate"
    LEADER = "leader"
    RESIGNED = "resigned"


# --- what happened ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Started:
    """The log is open; once, first of all."""


@dataclass(frozen=True, slots=True)
class ElectionDue:
    """The election timer ended."""


@dataclass(frozen=True, slots=True)
class Persisted:
    """This state is durable."""

    state: QuorumState


@dataclass(frozen=True, slots=True)
class VoteAnswered:
    """A voter answered a request for its vote."""

    voter_id: int
    epoch: int
    granted: bool


@dataclass(frozen=True, slots=True)
class Appended:
    """Our log ends here now."""

    end_offset: int


@dataclass(frozen=True, slots=True)
class Flushed:
    """Everything of our log below this offset is durable."""

    end_offset: int


@dataclass(frozen=True, slots=True)
class Fetched:
    """Another voter fetched from this offset: it has flushed everything below."""

    voter_id: int
    end_offset: int


@dataclass(frozen=True, slots=True)
class EpochSeen:
    """Somebody spoke in this epoch, and may have said who leads it."""

    epoch: int
    leader_id: int = NOBODY


@dataclass(frozen=True, slots=True)
class Resign:
    """Give up the office: the node stops, or cannot write any more."""


Event: TypeAlias = (
    Started
    | ElectionDue
    | Persisted
    | VoteAnswered
    | Appended
    | Flushed
    | Fetched
    | EpochSeen
    | Resign
)


# --- what is to be done ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Persist:
    """Make this state durable, then say Persisted."""

    state: QuorumState


@dataclass(frozen=True, slots=True)
class AskVotes:
    """Ask these voters for their votes."""

    epoch: int
    voter_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SetElectionTimer:
    """Say ElectionDue after this time; a later one replaces it."""

    after_ms: int


@dataclass(frozen=True, slots=True)
class TakeOffice:
    """We lead: append the first control batch of the epoch, then say Appended."""

    epoch: int
    granting_voters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LeaveOffice:
    """We lead no more; what was appended and is not committed may be lost."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Committed:
    """Everything below this offset is safe."""

    high_watermark: int


Effect: TypeAlias = Persist | AskVotes | SetElectionTimer | TakeOffice | LeaveOffice | Committed


class QuorumError(QuireError):
    """Something happened that cannot."""


class QuorumMachine:
    """See the module."""

    __slots__ = (
        "_before",
        "_end_offsets",
        "_entropy",
        "_granted",
        "_timeout_ms",
        "_waits_for",
        "epoch",
        "epoch_start_offset",
        "high_watermark",
        "leader_id",
        "log_end_offset",
        "me",
        "role",
        "voted_id",
        "voters",
    )

    def __init__(
        self,
        me: Voter,
        voters: VoterSet,
        state: QuorumState,
        *,
        log_end_offset: int,
        log_epoch: int,
        election_timeout_ms: int,
        entropy: Entropy,
    ) -> None:
        """`log_epoch` is that of the last batch: it counts when the file was lost and is behind."""
        known = state if state.epoch >= log_epoch else QuorumState(log_epoch)
        self.me = me
        self.voters = voters
        self.role = Role.UNATTACHED
        self.epoch = known.epoch
        self.voted_id = known.voted_id
        self.leader_id = NOBODY
        self.log_end_offset = log_end_offset
        self.epoch_start_offset = UNKNOWN
        self.high_watermark = UNKNOWN
        self._end_offsets: dict[int, int] = {}
        """How far each voter has flushed, ourselves included."""
        self._granted: set[int] = set()
        self._waits_for: QuorumState | None = None
        """The vote for ourselves that is not durable yet."""
        self._timeout_ms = election_timeout_ms
        self._entropy = entropy
        self._before = (self.epoch, self.high_watermark)

    @property
    def is_leader(self) -> bool:
        return self.role is Role.LEADER

    def step(self, event: Event) -> tuple[Effect, ...]:
        """What is to be done about this, in order."""
        self._before = (self.epoch, self.high_watermark)
        match event:
            case Started() | ElectionDue():
                return self._on_timer(event)
            case Persisted(state):
                return self._on_persisted(state)
            case VoteAnswered(voter_id, epoch, granted):
                return self._on_vote(voter_id, epoch, granted=granted)
            case Appended(end_offset):
                if end_offset < self.log_end_offset:
                    raise QuorumError(f"the log ends at {end_offset}, before where it ended")
                self.log_end_offset = end_offset
                return ()
            case Flushed(end_offset):
                return self._on_end_offset(
                    self.me.voter_id, min(end_offset, self.log_end_offset)
                )  # I5
            case Fetched(voter_id, end_offset):
                return self._on_end_offset(voter_id, end_offset)
            case EpochSeen(epoch, leader_id):
                return self._on_epoch(epoch, leader_id)
            case Resign():
                return self._resign()

    def check(self) -> None:
        """Assert the invariants."""
        epoch_before, high_watermark_before = self._before
        assert self.epoch >= epoch_before  # I1
        assert self.high_watermark >= high_watermark_before  # I4
        own = self._end_offsets.get(self.me.voter_id, 0)
        assert own <= self.log_end_offset  # I5
        if self.role in (Role.CANDIDATE, Role.LEADER):
            assert self.voted_id == self.me.voter_id  # I1
        if self.is_leader:
            assert self._waits_for is None  # I2
            assert self.voters.decides(self._granted)  # I3
            assert self.leader_id == self.me.voter_id
            if self.high_watermark > high_watermark_before:
                assert self.high_watermark > self.epoch_start_offset  # I4
                assert self.high_watermark <= self.voters.majority_offset(self._end_offsets)  # I4

    def _on_timer(self, event: Started | ElectionDue) -> tuple[Effect, ...]:
        if not self.voters.has(self.me.voter_id, self.me.directory_id):
            return ()
        if isinstance(event, Started) and len(self.voters) > 1:
            return (self._timer(),)
        if self.role in (Role.LEADER, Role.CANDIDATE) and len(self.voters) == 1:
            return ()
        return () if self.is_leader else self._stand()

    def _timer(self) -> SetElectionTimer:
        """Between one and two timeouts: not all stand at the same moment."""
        return SetElectionTimer(self._timeout_ms + self._entropy.below(max(1, self._timeout_ms)))

    def _stand(self) -> tuple[Effect, ...]:
        self.role = Role.CANDIDATE
        self.epoch += 1
        self.leader_id = NOBODY
        self.voted_id = self.me.voter_id
        self._granted = set()
        state = QuorumState(self.epoch, NOBODY, self.me.voter_id, self.me.directory_id)
        self._waits_for = state
        return (Persist(state),)

    def _on_persisted(self, state: QuorumState) -> tuple[Effect, ...]:
        if state != self._waits_for:
            return ()
        self._waits_for = None
        others = tuple(one for one in self.voters.ids if one != self.me.voter_id)
        effects = self._count(self.me.voter_id)
        if self.is_leader:
            return effects
        return (AskVotes(self.epoch, others), self._timer())

    def _on_vote(self, voter_id: int, epoch: int, *, granted: bool) -> tuple[Effect, ...]:
        if self.role is not Role.CANDIDATE or epoch != self.epoch or not granted:
            return ()
        return self._count(voter_id)

    def _count(self, voter_id: int) -> tuple[Effect, ...]:
        self._granted.add(voter_id)
        if self._waits_for is not None or not self.voters.decides(self._granted):
            return ()
        self.role = Role.LEADER
        self.leader_id = self.me.voter_id
        self.epoch_start_offset = self.log_end_offset
        self._end_offsets = {}
        granting = tuple(one for one in self.voters.ids if one in self._granted)
        led = QuorumState(self.epoch, self.leader_id)
        return (TakeOffice(self.epoch, granting), Persist(led))

    def _on_end_offset(self, voter_id: int, end_offset: int) -> tuple[Effect, ...]:
        known = self._end_offsets.get(voter_id, 0)
        self._end_offsets[voter_id] = max(known, end_offset)
        if not self.is_leader:
            return ()
        reached = self.voters.majority_offset(self._end_offsets)
        if reached <= max(self.high_watermark, self.epoch_start_offset):
            return ()
        self.high_watermark = reached
        return (Committed(reached),)

    def _on_epoch(self, epoch: int, leader_id: int) -> tuple[Effect, ...]:
        if epoch <= self.epoch:
            return ()
        left = self._leave(Role.UNATTACHED)
        self.epoch = epoch
        self.voted_id = NOBODY
        self.leader_id = leader_id
        self._waits_for = None
        return (*left, Persist(QuorumState(epoch, leader_id)), self._timer())

    def _resign(self) -> tuple[Effect, ...]:
        if not self.is_leader:
            return ()
        left = self._leave(Role.RESIGNED)
        return left if len(self.voters) == 1 else (*left, self._timer())

    def _leave(self, role: Role) -> tuple[Effect, ...]:
        led = self.is_leader
        self.role = role
        self.leader_id = NOBODY
        return (LeaveOffice(self.epoch),) if led else ()
