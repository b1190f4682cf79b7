"""The real clock: the system's wall clock and its monotonic one."""

from __future__ import annotations

import time

_NANOSECONDS_PER_MILLISECOND = 1_000_000


class RealClock:
    """Time as this machine knows it."""

    __slots__ = ()

    def wall_ms(self) -> int:
        return time.time_ns() // _NANOSECONDS_PER_MILLISECOND

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // _NANOSECONDS_PER_MILLISECOND

    monotonic_ns = staticmethod(time.monotonic_ns)
