"""The door to work that blocks: flushes, removals, scans, recompression. The loop goes on meanwhile.

Not here   work that can be split and spread at the start (runtime.threads), cleanings (runtime.cleaner_pool).
Implementations   runtime.background (threads), sim.background (in turn, after a drawn delay).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Background(Protocol):
    """Where to have work done."""

    def run(self, work: Callable[[], T]) -> Awaitable[T]:
        """Begin `work` elsewhere, at once; awaiting gives what it returned, or raises what it raised.

        `work` must not touch what the loop may change meanwhile. Awaiting may be given up; the work goes on.
        """
        ...
