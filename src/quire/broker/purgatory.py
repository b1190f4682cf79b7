"""Where answers wait: for a high watermark, for bytes to fetch, for members to join, or for their deadline.

An operation is watched under keys (a partition, a group). Whoever changes what stands behind a key says so, and every
operation under it is asked whether it can be answered now. One that nobody can answer expires.

Invariants
  I1  An operation ends exactly once: it completes or it expires, whatever number of keys it stands under.
  I2  Operations under one key are asked in the order in which they came.
  I3  Nothing of an ended operation stays: no key, no deadline that is ever looked at again.
  I4  Asking an operation may add, complete and expire others; each change of a key asks those that stood there when
      it began.
Not here   what an operation waits for (the handlers), the clock (`now_ms` is handed in), the timer (the node's).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable
from typing import Protocol


class Delayed(Protocol):
    """Something that waits."""

    def try_complete(self) -> bool:
        """Answer if it can be done now; True when that is so. Not called again afterwards."""
        ...

    def expire(self) -> None:
        """The deadline has passed: answer with what there is."""
        ...


class _Watched:
    """An operation, its keys and its place in time."""

    __slots__ = ("deadline_ms", "ended", "keys", "number", "operation")

    def __init__(
        self, operation: Delayed, keys: tuple[Hashable, ...], deadline_ms: int, number: int
    ) -> None:
        self.operation = operation
        self.keys = keys
        self.deadline_ms = deadline_ms
        self.number = number
        self.ended = False

    def __lt__(self, other: _Watched) -> bool:
        return (self.deadline_ms, self.number) < (other.deadline_ms, other.number)


class Purgatory:
    """See the module. One for each kind of operation, so that its size is a metric of its own."""

    def __init__(self) -> None:
        self._watched: dict[Hashable, dict[int, _Watched]] = {}
        self._deadlines: list[_Watched] = []
        self._made = 0
        self._waiting = 0
        self.on_earlier: Callable[[int], None] | None = None
        """Told of a deadline that comes before all others, so that somebody calls `expire` then."""

    def __len__(self) -> int:
        """How many operations wait."""
        return self._waiting

    def keys(self) -> list[Hashable]:
        """Under which keys something waits."""
        return list(self._watched)

    def watch(self, operation: Delayed, keys: Iterable[Hashable], *, deadline_ms: int) -> bool:
        """Complete `operation` at once if that is possible (True), else keep it until it is."""
        if operation.try_complete():
            return True
        watched = _Watched(operation, tuple(dict.fromkeys(keys)), deadline_ms, self._made)
        self._made += 1
        self._waiting += 1
        for key in watched.keys:
            self._watched.setdefault(key, {})[watched.number] = watched
        deadlines = self._deadlines
        heapq.heappush(deadlines, watched)
        if self.on_earlier is not None and deadlines[0] is watched:
            self.on_earlier(deadline_ms)
        return False

    def changed(self, key: Hashable) -> int:
        """What stands behind `key` has changed; how many operations are complete now."""
        if not self._watched:
            return 0  # as nearly always, on the way of every produce
        watching = self._watched.get(key)
        if watching is None:
            return 0
        completed = 0
        for watched in list(watching.values()):
            if not watched.ended and watched.operation.try_complete():
                self._end(watched)
                completed += 1
        return completed

    def expire(self, now_ms: int) -> int:
        """End every operation whose deadline has come; how many there were."""
        expired = 0
        while (deadline_ms := self.next_deadline_ms()) is not None and deadline_ms <= now_ms:
            watched = heapq.heappop(self._deadlines)
            self._end(watched)
            watched.operation.expire()
            expired += 1
        return expired

    def expire_all(self, key: Hashable) -> int:
        """What stands behind `key` is gone: nobody will complete these; how many there were."""
        ended = [watched for watched in self._watched.get(key, {}).values() if not watched.ended]
        for watched in ended:
            self._end(watched)
            watched.operation.expire()
        return len(ended)

    def next_deadline_ms(self) -> int | None:
        """When `expire` has something to do next; None when nothing waits."""
        while self._deadlines and self._deadlines[0].ended:
            heapq.heappop(self._deadlines)
        return self._deadlines[0].deadline_ms if self._deadlines else None

    def check(self) -> None:
        """Assert the invariants."""
        alive = {w.number for w in self._deadlines if not w.ended}
        assert len(alive) == self._waiting  # I1
        standing = {number for watching in self._watched.values() for number in watching}
        assert standing <= alive  # I3
        assert all(self._watched.values())  # I3: no key without an operation

    def _end(self, watched: _Watched) -> None:
        assert not watched.ended  # I1
        watched.ended = True
        self._waiting -= 1
        for key in watched.keys:
            watching = self._watched[key]
            del watching[watched.number]
            if not watching:
                del self._watched[key]
        if len(self._deadlines) > 2 * self._waiting + 64:
            self._deadlines = [w for w in self._deadlines if not w.ended]
            heapq.heapify(self._deadlines)
