"""node.tasks: everything ends with its node, and nothing fails unheard."""

from __future__ import annotations

import asyncio

from quire.node.tasks import Tasks
from quire.sim.loop import run


def test_the_first_task_that_fails_is_the_failure_and_the_others_go_on() -> None:
    async def main() -> None:
        tasks = Tasks()
        done: list[str] = []

        async def fail(after: float, text: str) -> None:
            await asyncio.sleep(after)
            raise ValueError(text)

        async def work() -> None:
            await asyncio.sleep(10)
            done.append("work")

        tasks.start(fail(2, "second"), "b")
        tasks.start(fail(1, "first"), "a")
        tasks.start(work(), "c")
        assert tasks.failure is None
        failure = await tasks.failed()
        assert str(failure) == "first"
        await asyncio.sleep(20)
        assert str(tasks.failure) == "first"
        assert done == ["work"]

    run(main)


def test_after_cancel_nothing_runs_not_even_what_began_meanwhile() -> None:
    async def main() -> None:
        tasks = Tasks()
        ticks: list[str] = []

        async def for_ever() -> None:
            while True:
                await asyncio.sleep(1)
                ticks.append("tick")

        async def begin_another() -> None:
            try:
                await asyncio.sleep(100)
            finally:
                tasks.start(for_ever(), "late")

        tasks.start(for_ever(), "early")
        tasks.start(begin_another(), "parent")
        await asyncio.sleep(2.5)
        await tasks.cancel()
        seen = len(ticks)
        await asyncio.sleep(100)
        assert len(ticks) == seen == 2
        assert tasks.failure is None

    run(main)


def test_dropping_ends_them_without_waiting() -> None:
    async def main() -> None:
        tasks = Tasks()
        ended = False

        async def work() -> None:
            nonlocal ended
            try:
                await asyncio.sleep(100)
            finally:
                ended = True

        tasks.start(work(), "work")
        await asyncio.sleep(1)
        tasks.drop()
        assert not ended
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert ended

    run(main)


def test_work_that_is_done_again_and_again_waits_for_itself() -> None:
    async def main() -> None:
        tasks = Tasks()
        loop = asyncio.get_running_loop()
        begun: list[float] = []
        plain: list[float] = []

        async def slow() -> None:
            begun.append(loop.time() - start)
            await asyncio.sleep(3)

        start = loop.time()
        tasks.start(tasks.every(1000, slow), "slow")
        tasks.start(tasks.every(4000, lambda: plain.append(loop.time() - start)), "plain")
        await asyncio.sleep(10)
        await tasks.cancel()
        assert begun == [1, 5, 9]
        assert plain == [4, 8]

    run(main)


def test_a_failure_can_be_told_from_outside() -> None:
    async def main() -> None:
        tasks = Tasks()
        tasks.fail(OSError("no directory works"))
        tasks.fail(OSError("too late"))
        assert str(await tasks.failed()) == "no directory works"

    run(main)
