"""What handlers may know of the metadata quorum, and the two things they may ask of it.

Invariants
  I1  `status` is None unless this node leads the quorum: only the leader knows how far the others are.
  I2  `add_voter` and `remove_voter` are asked of the leader only, and answer when the change is committed (or as soon
      as it stands in the leader's log, where `until_committed` is false) or when it failed.
Not here   the quorum itself (raft), who drives it (node), what the requests must hold (handlers.add_raft_voter).
See        KIP-595, KIP-853
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

from quire.errors import ErrorCode
from quire.raft.voters import Voter

UNKNOWN: Final = -1


class ReplicaProgress(NamedTuple):
    """How far one voter or observer is."""

    replica_id: int
    directory_id: bytes
    """All zeros where the quorum does not know directories."""
    log_end_offset: int = UNKNOWN
    last_fetch_ms: int = UNKNOWN
    """By the wall clock; UNKNOWN for the leader itself and for who never fetched."""
    last_caught_up_ms: int = UNKNOWN


class QuorumStatus(NamedTuple):
    """The quorum as its leader sees it."""

    epoch: int
    high_watermark: int
    """The offset after the last committed record; UNKNOWN until the leader has committed in its own epoch."""
    voters: tuple[ReplicaProgress, ...]
    observers: tuple[ReplicaProgress, ...]


class Outcome(NamedTuple):
    """What became of a change of the voters."""

    code: ErrorCode = ErrorCode.NONE
    message: str | None = None


class QuorumView(Protocol):
    """The node's quorum, as its handlers see it."""

    @property
    def leader_id(self) -> int:
        """Who leads, as far as this node knows; -1 while nobody does."""
        ...

    @property
    def kraft_version(self) -> int:
        """0: the voters are those of the configuration; 1: those of the log, and they can change."""
        ...

    @property
    def listener(self) -> str:
        """The controller listener's name under which voters speak with each other."""
        ...

    @property
    def voters(self) -> tuple[Voter, ...]:
        """The voters of this moment, with their endpoints, in the order of their ids."""
        ...

    def status(self) -> QuorumStatus | None:
        """How far everybody is; None when this node does not lead (I1)."""
        ...

    async def add_voter(self, voter: Voter, *, timeout_ms: int, until_committed: bool) -> Outcome:
        """Let one more vote, once it has been asked what it supports and has caught up (I2)."""
        ...

    async def remove_voter(self, voter_id: int, directory_id: bytes) -> Outcome:
        """Let one vote no more (I2)."""
        ...
