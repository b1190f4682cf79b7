"""Work that blocks, on a few threads that are made when they are first needed.

Invariants
  I1  Work begins in the order in which it was handed over; at most `threads` pieces run at once.
  I2  What a piece returns or raises is told on the loop that handed it over.
  I3  After `close` has returned nothing runs, and no thread is left.
See        ports.background, docs/decisions/0011-work-that-blocks-has-a-door.md
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

THREADS = 4


class ThreadBackground:
    """See the module."""

    def __init__(self, threads: int = THREADS) -> None:
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None

    def run(self, work: Callable[[], T]) -> Awaitable[T]:
        """Begin `work` on another thread."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="quire-background")
        return asyncio.wrap_future(self._pool.submit(work))

    def close(self) -> None:
        """Let what has begun end, and forget the rest. Blocks."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
