"""The door to time: a wall clock for timestamps, a monotonic one for durations."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Whole milliseconds, but for the one that measures."""

    def wall_ms(self) -> int:
        """Since 1970-01-01 UTC. May jump, in both directions."""
        ...

    def monotonic_ms(self) -> int:
        """Since some moment. Never goes back."""
        ...

    def monotonic_ns(self) -> int:
        """As `monotonic_ms`, in nanoseconds: for measuring how long a piece of work took."""
        ...
