"""The tasks of one node: all of them end with it, and none fails unheard.

Invariants
  I1  A task that raises is the node's failure, with the first one kept; it is never only a warning.
  I2  After `cancel` nothing of the node runs any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any


class Tasks:
    """See the module."""

    def __init__(self) -> None:
        self._running: dict[asyncio.Task[Any], None] = {}
        self._failed: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Run `work` beside everything else."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running[task] = None
        task.add_done_callback(self._ended)
        return task

    def fail(self, error: BaseException) -> None:
        """The node cannot go on."""
        if not self._failed.done():
            self._failed.set_result(error)

    async def failed(self) -> BaseException:
        """Why the node cannot go on; waits for as long as it can."""
        return await asyncio.shield(self._failed)

    @property
    def failure(self) -> BaseException | None:
        return self._failed.result() if self._failed.done() else None

    async def cancel(self) -> None:
        """End them all, and wait until they have; one that begins another on its way out too (I2)."""
        while running := [one for one in self._running if one is not asyncio.current_task()]:
            for task in running:
                task.cancel()
            await asyncio.wait(running)

    def drop(self) -> None:
        """End them all without waiting, as a crash does."""
        for task in list(self._running):
            task.cancel()

    async def every(self, interval_ms: int, work: Callable[[], Awaitable[None] | None]) -> None:
        """Do `work` again and again, `interval_ms` after the last time."""
        while True:
            await asyncio.sleep(interval_ms / 1000)
            pending = work()
            if pending is not None:
                await pending

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.fail(error)
