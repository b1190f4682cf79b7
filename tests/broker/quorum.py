"""A quorum of one or two voters that does what it is told."""

from __future__ import annotations

from quire.broker.quorum_view import Outcome, QuorumStatus, ReplicaProgress
from quire.errors import ErrorCode
from quire.raft.voters import Voter, VoterEndpoint

DIRECTORY = bytes(range(16))
ENDPOINTS = (VoterEndpoint("CONTROLLER", "127.0.0.1", 9093),)


class SomeQuorum:
    """See the module."""

    def __init__(self, *, leads: bool = True) -> None:
        self.leader_id = 1 if leads else 2
        self.kraft_version = 1
        self.listener = "CONTROLLER"
        self.voters = (Voter(1, DIRECTORY, ENDPOINTS),)
        self.leads = leads
        self.added: list[tuple[Voter, int, bool]] = []
        self.removed: list[tuple[int, bytes]] = []

    def status(self) -> QuorumStatus | None:
        if not self.leads:
            return None
        voters = (ReplicaProgress(1, DIRECTORY, 40),)
        observers = (ReplicaProgress(5, DIRECTORY, 38, last_fetch_ms=17, last_caught_up_ms=16),)
        return QuorumStatus(3, 39, voters, observers)

    async def add_voter(self, voter: Voter, *, timeout_ms: int, until_committed: bool) -> Outcome:
        self.added.append((voter, timeout_ms, until_committed))
        return Outcome(ErrorCode.REQUEST_TIMED_OUT, "slow")

    async def remove_voter(self, voter_id: int, directory_id: bytes) -> Outcome:
        self.removed.append((voter_id, directory_id))
        return Outcome()
