"""Work that blocks, in a world without threads: each piece is done as a whole, after a drawn delay.

Several pieces may be on their way at once and end in another order than they began, as on real threads. When their
process dies the rest is never done.

Invariants
  I1  The same seed and the same calls give the same order of ends.
  I2  After `stop` no work is done any more, and nobody who waits is told.
See        ports.background.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from quire.sim.disk import SimulatedCrash
from quire.sim.entropy import SeededEntropy

T = TypeVar("T")


class SimBackground:
    """See the module. `on_crash` is told when a piece of work was struck: its process has died."""

    def __init__(
        self,
        entropy: SeededEntropy,
        on_crash: Callable[[SimulatedCrash], None],
        *,
        delay_ms: tuple[int, int] = (0, 8),
    ) -> None:
        self._entropy = entropy
        self._on_crash = on_crash
        self._delay_ms = delay_ms
        self._stopped = False

    def run(self, work: Callable[[], T]) -> Awaitable[T]:
        """Do `work` a little later."""
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[T] = loop.create_future()
        low, high = self._delay_ms
        delay_ms = low + self._entropy.below((high - low) * 1000 + 1) / 1000
        loop.call_later(delay_ms / 1000, self._carry_out, work, outcome)
        return outcome

    def stop(self) -> None:
        """The process is gone (I2)."""
        self._stopped = True

    def _carry_out(self, work: Callable[[], T], outcome: asyncio.Future[T]) -> None:
        if self._stopped:
            return
        try:
            result = work()
        except SimulatedCrash as crash:
            self._on_crash(crash)
        except Exception as error:  # noqa: BLE001 -- it belongs to whoever waits
            if not outcome.cancelled():
                outcome.set_exception(error)
        else:
            if not outcome.cancelled():
                outcome.set_result(result)
