"""One timer for all that waits in a broker's purgatories.

Invariants
  I1  The timer stands at or before the earliest deadline of all; an operation expires at most a tick after its own.
Not here   what waits, and what its end is (purgatory, handlers).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from quire.broker.purgatory import Purgatory
from quire.ports.clock import Clock

TICK_SECONDS: Final = 0.001
"""What a clock of whole milliseconds cannot tell apart."""


class Deadlines:
    """See the module. Made on the loop that the purgatories are used on."""

    def __init__(self, purgatories: Iterable[Purgatory], clock: Clock) -> None:
        self._purgatories = tuple(purgatories)
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        for purgatory in self._purgatories:
            purgatory.on_earlier = self._on_earlier
        self._arm()

    def stop(self) -> None:
        """Expire nothing any more."""
        for purgatory in self._purgatories:
            purgatory.on_earlier = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_earlier(self, deadline_ms: int) -> None:
        if self._timer is None or deadline_ms < self._timer_ms:
            if self._timer is not None:
                self._timer.cancel()
            self._set(deadline_ms)

    def _set(self, deadline_ms: int) -> None:
        seconds = (deadline_ms - self._clock.monotonic_ms()) / 1000
        self._timer_ms = deadline_ms
        self._timer = self._loop.call_later(max(seconds, TICK_SECONDS), self._expire)

    def _expire(self) -> None:
        self._timer = None
        now_ms = self._clock.monotonic_ms()
        for purgatory in self._purgatories:
            purgatory.expire(now_ms)
        self._arm()

    def _arm(self) -> None:
        due = [purgatory.next_deadline_ms() for purgatory in self._purgatories]
        earliest = min((one for one in due if one is not None), default=None)
        if earliest is not None and self._timer is None:
            self._set(earliest)
