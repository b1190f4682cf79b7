from __future__ import annotations

import asyncio

import pytest

from quire.sim.clock import LoopClock, SimClock
from quire.sim.loop import run


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


def test_a_machine_s_clock_passes_with_its_loop() -> None:
    async def scene() -> None:
        clock = LoopClock(asyncio.get_running_loop(), wall_ms=5000)
        assert (clock.wall_ms(), clock.monotonic_ms()) == (5000, 0)
        await asyncio.sleep(1.25)
        assert (clock.wall_ms(), clock.monotonic_ms()) == (6250, 1250)
        assert clock.monotonic_ns() == 1_250_000_000

    run(scene)


def test_setting_a_machine_s_clock_does_not_touch_durations() -> None:
    async def scene() -> None:
        clock = LoopClock(asyncio.get_running_loop(), wall_ms=5000)
        clock.jump(-3000)
        assert (clock.wall_ms(), clock.monotonic_ms()) == (2000, 0)

    run(scene)
