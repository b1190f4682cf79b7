from __future__ import annotations

import pytest

from quire.sim.clock import SimClock


def test_time_passes_only_when_told() -> None:
    clock = SimClock(wall_ms=1000)
    assert (clock.wall_ms(), clock.monotonic_ms()) == (1000, 0)
    clock.advance(5)
    assert (clock.wall_ms(), clock.monotonic_ms()) == (1005, 5)
    assert clock.monotonic_ns() == 5_000_000


def test_a_jump_moves_the_wall_clock_alone() -> None:
    clock = SimClock(wall_ms=1000)
    clock.jump(-500)
    assert (clock.wall_ms(), clock.monotonic_ms()) == (500, 0)


def test_time_does_not_go_back() -> None:
    with pytest.raises(ValueError, match="does not go back"):
        SimClock().advance(-1)
