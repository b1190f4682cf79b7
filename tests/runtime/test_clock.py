from __future__ import annotations

import time

from quire.runtime.clock import RealClock


def test_the_wall_clock_counts_milliseconds_since_1970() -> None:
    assert abs(RealClock().wall_ms() - time.time() * 1000) < 5_000


def test_the_monotonic_clock_never_goes_back() -> None:
    clock = RealClock()
    readings = [clock.monotonic_ms() for _ in range(1000)]
    assert readings == sorted(readings)


def test_both_readings_of_the_monotonic_clock_agree() -> None:
    clock = RealClock()
    before = clock.monotonic_ms()
    reading = clock.monotonic_ns()
    assert before <= reading // 1_000_000 <= clock.monotonic_ms()
