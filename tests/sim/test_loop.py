from __future__ import annotations

import asyncio
import time
from contextvars import copy_context

import pytest

from quire.sim.loop import PROCESS, DeadlockError, Process, VirtualTimeLoop, run


def test_an_hour_passes_in_no_time() -> None:
    async def scene() -> float:
        start = asyncio.get_running_loop().time()
        await asyncio.gather(*(asyncio.sleep(3600) for _ in range(10)))
        return asyncio.get_running_loop().time() - start

    before = time.monotonic()
    assert run(scene) == pytest.approx(3600)
    assert time.monotonic() - before < 60


def test_timers_fire_in_the_order_of_their_time_and_of_their_making() -> None:
    seen: list[str] = []

    async def scene() -> None:
        loop = asyncio.get_running_loop()
        for name, delay in (("c", 2.0), ("a", 1.0), ("b", 1.0), ("d", 2.0)):
            loop.call_later(delay, seen.append, name)
        await asyncio.sleep(3)

    run(scene)
    assert "".join(seen) == "abcd"


def test_waiting_for_what_cannot_come_is_a_deadlock_and_said_at_once() -> None:
    async def scene() -> None:
        await asyncio.Event().wait()

    with pytest.raises(DeadlockError):
        run(scene)


def test_threads_are_refused() -> None:
    async def scene() -> None:
        await asyncio.to_thread(time.monotonic)

    with pytest.raises(RuntimeError, match="no threads"):
        run(scene)


def test_tasks_that_are_left_are_cancelled() -> None:
    ended: list[str] = []

    async def sleeper(name: str) -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            ended.append(name)

    async def scene() -> None:
        for name in ("one", "two"):
            asyncio.get_running_loop().create_task(sleeper(name), name=name)
        await asyncio.sleep(1)

    run(scene)
    assert ended == ["one", "two"]


def test_a_thousand_timers_of_the_same_time_keep_their_order() -> None:
    seen: list[int] = []

    async def scene() -> None:
        loop = asyncio.get_running_loop()
        when = loop.time() + 1
        for number in range(1000):
            timer = loop.call_at(when, seen.append, number)
            if number % 3 == 0:
                timer.cancel()
        await asyncio.sleep(2)

    run(scene)
    assert seen == [number for number in range(1000) if number % 3]


def test_of_a_paused_process_nothing_runs_until_it_goes_on_and_then_in_order() -> None:
    seen: list[str] = []

    async def ticking(name: str) -> None:
        for number in range(4):
            seen.append(f"{name}{number}")
            await asyncio.sleep(1)

    async def scene() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        process = Process()
        context = copy_context()
        context.run(PROCESS.set, process)
        theirs = loop.create_task(ticking("p"), context=context)
        ours = loop.create_task(ticking("o"))
        await asyncio.sleep(1.5)
        process.is_paused = True
        for name in "ab":
            loop.call_soon(seen.append, name, context=context)
        await asyncio.sleep(5)
        assert ours.done()
        loop.resume(process)
        await theirs

    run(scene)
    assert seen == ["p0", "o0", "p1", "o1", "o2", "o3", "a", "b", "p2", "p3"]
