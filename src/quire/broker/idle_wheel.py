"""Who has been idle for too long: looked at once in a while, never at each sign of life.

Everybody stands in the slot in which he would be too idle if nothing came. When a slot's time has come, those in it who
did show life move to a later slot, the others are idle: a sign of life costs nothing but writing down its time.

Invariants
  I1  Everybody stands in exactly one slot.
  I2  Nobody is called idle before his time, nor more than a slot's width after it.
Not here   the timer that turns the wheel, and what becomes of the idle (connection).
"""

from __future__ import annotations

import heapq
from typing import Final, Generic, Protocol, TypeVar

SLOTS_PER_LIMIT: Final = 16
WIDTH_MIN_MS: Final = 100
WIDTH_MAX_MS: Final = 5_000


class Living(Protocol):
    """Somebody who shows life."""

    active_ms: int
    """When last."""


Member = TypeVar("Member", bound=Living)


class IdleWheel(Generic[Member]):
    """See the module. The times are those of the monotonic clock."""

    def __init__(self, limit_ms: int) -> None:
        self.limit_ms = limit_ms
        self._width_ms = min(max(limit_ms // SLOTS_PER_LIMIT, WIDTH_MIN_MS), WIDTH_MAX_MS)
        self._slots: dict[int, dict[Member, None]] = {}
        self._order: list[int] = []
        self._slot_of: dict[Member, int] = {}

    def __len__(self) -> int:
        return len(self._slot_of)

    def add(self, member: Member) -> None:
        """Watch somebody."""
        number = (member.active_ms + self.limit_ms) // self._width_ms + 1
        slot = self._slots.get(number)
        if slot is None:
            slot = self._slots[number] = {}
            heapq.heappush(self._order, number)
        slot[member] = None
        self._slot_of[member] = number

    def remove(self, member: Member) -> None:
        """Watch somebody no more; nothing happens when he is not watched."""
        number = self._slot_of.pop(member, None)
        if number is not None:
            del self._slots[number][member]

    def next_ms(self) -> int | None:
        """When `turn` has something to do; None when nobody is watched."""
        while self._order and not self._slots[self._order[0]]:
            del self._slots[heapq.heappop(self._order)]
        return self._order[0] * self._width_ms if self._order else None

    def turn(self, now_ms: int) -> list[Member]:
        """Those who are idle now; they are not watched any more."""
        idle: list[Member] = []
        while (due_ms := self.next_ms()) is not None and due_ms <= now_ms:
            slot = self._slots.pop(heapq.heappop(self._order))
            for member in slot:
                del self._slot_of[member]
                if now_ms - member.active_ms >= self.limit_ms:
                    idle.append(member)
                else:
                    self.add(member)
        return idle

    def check(self) -> None:
        """Assert the invariants."""
        standing = {member: number for number, slot in self._slots.items() for member in slot}
        assert standing == self._slot_of  # I1
        assert set(self._order) == set(self._slots)
