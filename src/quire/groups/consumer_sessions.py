"""When members of a consumer group are taken for dead, and what they have to do by when.

    session      without a heartbeat for so long a member is fenced
    revocation   a member that was told to give partitions back, and does not in its rebalance timeout, is fenced
    rejoin       a member of the classic protocol that was told to join anew, and does not, is fenced
    sync         one that has joined, and does not ask for its assignment, is fenced

Invariants
  I1  A session's timer rings no later than the session ends. A member that shows that it is alive moves the end, not
      the timer: it is set anew when it rings too early.
  I2  Of a member that is gone nothing rings.
Not here   what happens then (consumer_leaving).
See        KIP-848
"""

from __future__ import annotations

from typing import Final

from quire.groups.step import Step

SESSION: Final = "consumer session"
REVOCATION: Final = "consumer revocation"
REJOIN: Final = "consumer rejoin"
SYNC: Final = "consumer sync"
DEADLINES: Final = (REVOCATION, REJOIN, SYNC)
KINDS: Final = frozenset({SESSION, *DEADLINES})


class Session:
    """How long a member is taken for alive (I1)."""

    __slots__ = ("armed_ms", "deadline_ms")

    def __init__(self) -> None:
        self.deadline_ms = 0
        self.armed_ms: int | None = None


class Sessions:
    """See the module."""

    def __init__(self, group_id: str) -> None:
        self._group_id = group_id
        self._sessions: dict[str, Session] = {}
        self._expected: dict[tuple[str, str], int] = {}
        """What a member has to do by when, and the epoch in which it was told so."""

    def keep_alive(self, step: Step, member_id: str, length_ms: int) -> None:
        """A member's session begins anew."""
        session = self._sessions.get(member_id)
        if session is None:
            session = self._sessions[member_id] = Session()
        deadline_ms = session.deadline_ms = step.moment.elapsed_ms + length_ms
        if session.armed_ms is None or session.armed_ms > deadline_ms:
            session.armed_ms = deadline_ms
            step.timer((SESSION, self._group_id, member_id), length_ms)

    def has_ended(self, step: Step, member_id: str) -> bool:
        """Asked when its timer rings; it is set anew where the session goes on."""
        session = self._sessions.get(member_id)
        if session is None:
            return False
        left_ms = session.deadline_ms - step.moment.elapsed_ms
        if left_ms <= 0:
            return True
        session.armed_ms = session.deadline_ms
        step.timer((SESSION, self._group_id, member_id), left_ms)
        return False

    def expect(self, step: Step, kind: str, member_id: str, epoch: int, within_ms: int) -> None:
        """A member shall do something in its epoch; who is told so twice has no more time."""
        if self._expected.get((kind, member_id)) != epoch:
            self._expected[kind, member_id] = epoch
            step.timer((kind, self._group_id, member_id), within_ms)

    def fulfil(self, step: Step, kind: str, member_id: str) -> None:
        """A member has done so, or need not any more."""
        if self._expected.pop((kind, member_id), None) is not None:
            step.timer((kind, self._group_id, member_id), None)

    def expected_epoch(self, kind: str, member_id: str) -> int | None:
        """Asked when the timer rings: the epoch in which a member still has to do it."""
        return self._expected.pop((kind, member_id), None)

    def forget(self, step: Step, member_id: str) -> None:
        """A member is gone (I2)."""
        if self._sessions.pop(member_id, None) is not None:
            step.timer((SESSION, self._group_id, member_id), None)
        for kind in DEADLINES:
            self.fulfil(step, kind, member_id)

    def forget_all(self, step: Step) -> None:
        """The group is gone."""
        told = [member_id for _, member_id in self._expected]
        for member_id in dict.fromkeys([*self._sessions, *told]):
            self.forget(step, member_id)

    def check(self) -> None:
        """Assert the invariants."""
        for session in self._sessions.values():
            armed_ms = session.armed_ms
            assert armed_ms is None or armed_ms <= session.deadline_ms, "consumer_sessions I1"
