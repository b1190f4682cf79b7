from __future__ import annotations

import asyncio
import threading
import time

import pytest

from quire.runtime.background import ThreadBackground


def names() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith("quire-background")]


def test_work_is_done_elsewhere_and_told_here() -> None:
    async def main() -> None:
        background = ThreadBackground()
        before = names()
        assert await background.run(threading.get_ident) != threading.get_ident()
        with pytest.raises(ZeroDivisionError):
            await background.run(lambda: 1 // 0)
        background.close()
        assert names() == before

    asyncio.run(main())


def test_no_thread_is_made_before_there_is_work() -> None:
    before = names()
    background = ThreadBackground()
    assert names() == before
    background.close()


def test_after_close_what_had_begun_is_done_and_the_rest_is_forgotten() -> None:
    async def main() -> None:
        background = ThreadBackground(threads=1)
        done: list[int] = []

        def work(number: int) -> None:
            time.sleep(0.05)
            done.append(number)

        first = asyncio.ensure_future(background.run(lambda: work(1)))
        second = asyncio.ensure_future(background.run(lambda: work(2)))
        await asyncio.sleep(0.02)
        background.close()
        assert done == [1]
        await first
        assert second.cancelled() or not second.done()
        second.cancel()

    asyncio.run(main())
