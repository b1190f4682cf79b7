"""Time that passes only when it is told to: the simulated wall clock and its monotonic twin."""

from __future__ import annotations


class SimClock:
    """Both clocks move together in `advance`; `jump` moves the wall clock alone."""

    __slots__ = ("_monotonic_ms", "_wall_ms")

    def __init__(self, wall_ms: int = 1_700_000_000_000) -> None:
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
