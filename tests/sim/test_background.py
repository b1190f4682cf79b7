from __future__ import annotations

import asyncio

import pytest

from quire.sim.background import SimBackground
from quire.sim.disk import SimDisk, SimulatedCrash
from quire.sim.entropy import SeededEntropy
from quire.sim.loop import run


def nobody_dies(crash: SimulatedCrash) -> None:
    raise AssertionError(crash)


def ends(seed: int) -> list[int]:
    done: list[int] = []

    async def scene() -> None:
        background = SimBackground(SeededEntropy(seed), nobody_dies)
        await asyncio.gather(*(background.run(lambda n=n: done.append(n)) for n in range(20)))

    run(scene)
    return done


def test_every_piece_is_done_once_in_an_order_that_the_seed_draws() -> None:
    assert sorted(ends(1)) == list(range(20))
    assert ends(1) == ends(1)
    assert ends(1) != list(range(20))
    assert ends(1) != ends(2)


def test_what_work_returns_and_raises_reaches_whoever_waits() -> None:
    async def scene() -> None:
        background = SimBackground(SeededEntropy(3), nobody_dies)
        assert await background.run(lambda: 5) == 5
        with pytest.raises(FileNotFoundError):
            await background.run(lambda: SimDisk().stat("/nothing"))

    run(scene)


def test_work_goes_on_when_nobody_waits_any_more() -> None:
    done: list[str] = []

    async def scene() -> None:
        background = SimBackground(SeededEntropy(3), nobody_dies, delay_ms=(5, 5))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(background.run(lambda: done.append("done")), 0.001)
        assert done == []
        await asyncio.sleep(0.01)

    run(scene)
    assert done == ["done"]


def test_a_struck_piece_ends_its_process_and_nothing_is_done_after_the_end() -> None:
    crashes: list[SimulatedCrash] = []
    done: list[str] = []

    async def scene() -> None:
        disk = SimDisk(1)
        background = SimBackground(SeededEntropy(3), crashes.append, delay_ms=(1, 1))
        disk.faults.fail_after(operations=0)
        background.run(lambda: disk.make_directory("/a"))
        await asyncio.sleep(0.01)
        background.run(lambda: done.append("too late"))
        background.stop()
        await asyncio.sleep(0.01)

    run(scene)
    assert len(crashes) == 1
    assert done == []
