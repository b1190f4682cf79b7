"""Simulated time: a clock that passes only when it is told to, and one that follows a virtual loop.

Both have a wall clock that can be set forward and back, and a monotonic one that cannot.
"""

from __future__ import annotations

import asyncio

START_MS = 1_700_000_000_000


class SimClock:
    """Both clocks move together in `advance`; `jump` moves the wall clock alone."""

    __slots__ = ("_monotonic_ms", "_wall_ms")

    def __init__(self, wall_ms: int = START_MS) -> None:
        self._wall_ms = wall_ms
        self._monotonic_ms = 0

    def wall_ms(self) -> int:
        return self._wall_ms

    def monotonic_ms(self) -> int:
        return self._monotonic_ms

    def monotonic_ns(self) -> int:
        return self._monotonic_ms * 1_000_000

    def advance(self, duration_ms: int) -> None:
        """Let time pass."""
        if duration_ms < 0:
            raise ValueError(f"time does not go back: {duration_ms} ms")
        self._wall_ms += duration_ms
        self._monotonic_ms += duration_ms

    def jump(self, difference_ms: int) -> None:
        """Set the wall clock forward or back, as an administrator or a time server does."""
        self._wall_ms += difference_ms


class LoopClock:
    """A machine's clock in a world whose time is that of a virtual loop (sim.loop)."""

    __slots__ = ("_ahead_ms", "_began_seconds", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, wall_ms: int = START_MS) -> None:
        self._loop = loop
        self._began_seconds = loop.time()
        self._ahead_ms = wall_ms

    def wall_ms(self) -> int:
        return self._ahead_ms + self.monotonic_ms()

    def monotonic_ms(self) -> int:
        return self.monotonic_ns() // 1_000_000

    def monotonic_ns(self) -> int:
        return round((self._loop.time() - self._began_seconds) * 1e9)

    def jump(self, difference_ms: int) -> None:
        """Set the wall clock forward or back; durations do not notice."""
        self._ahead_ms += difference_ms
