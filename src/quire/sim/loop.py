"""An event loop whose time stands still while anything can run, and jumps to the next timer when nothing can.

The production code runs on it unchanged: tasks, timers, queues. An hour with little to do takes milliseconds, and the
order of everything follows from the order in which it was scheduled.

Invariants
  I1  Time never goes back, and moves only when nothing is ready.
  I2  Nothing from outside gets in: no thread, no socket, no signal can wake this loop.
  I3  A loop that waits for ever (nothing ready, no timer) says so at once, with DeadlockError.
  I4  Timers of the same time fire in the order in which they were made.
  I5  While a process is paused nothing that belongs to it runs: not its tasks, not its timers, not its callbacks. They
      are held in their order, and go on when it does. What belongs to it is what was begun in its context.
Not here   the network and the disk of the simulated world (sim.network, sim.disk).
See        docs/decisions/0001-pure-rooms-and-ports.md.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable
from contextvars import Context, ContextVar
from typing import Any, NoReturn

from quire.errors import QuireError

START_SECONDS = 1000.0
"""Not zero, so that a forgotten zero is not taken for the time."""


class DeadlockError(QuireError):
    """Everybody waits for somebody, and no timer will end it."""


class _TimeSelector:
    """What asyncio asks how long to sleep: it sleeps by moving the clock."""

    def __init__(self) -> None:
        self.seconds = START_SECONDS

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            raise DeadlockError(
                "nothing is ready and no timer is set: the simulated world stands still"
            )
        self.seconds += max(timeout, 0.0)
        return []


class Process:
    """Whose work it is; paused, none of it is done (I5)."""

    __slots__ = ("held", "is_paused")

    def __init__(self) -> None:
        self.is_paused = False
        self.held: list[asyncio.Handle] = []


PROCESS: ContextVar[Process | None] = ContextVar("process", default=None)
"""The process in whose context something runs; None for whoever stands outside of the simulated machines."""


def _is_held(handle: asyncio.Handle) -> bool:
    process = handle._context.get(PROCESS)  # type: ignore[attr-defined]  # noqa: SLF001
    if process is None or not process.is_paused:
        return False
    process.held.append(handle)
    return True


class _Callback(asyncio.Handle):
    """One that waits while its process is paused."""

    __slots__ = ()

    def _run(self) -> None:
        if not _is_held(self):
            super()._run()


class _OrderedTimer(asyncio.TimerHandle):
    """A timer that comes after those of the same time that were made before it."""

    __slots__ = ("number",)
    number: int

    def _run(self) -> None:
        if not _is_held(self):
            super()._run()

    def __lt__(self, other: object) -> bool:
        assert isinstance(other, _OrderedTimer)
        return (self.when(), self.number) < (other.when(), other.number)


class VirtualTimeLoop(asyncio.BaseEventLoop):
    """See the module."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = _TimeSelector()
        self._clock_resolution = 1e-9
        self._timers_made = 0
        self._scheduled: list[_OrderedTimer]
        self._ready: deque[asyncio.Handle]

    def time(self) -> float:
        return self._selector.seconds

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """As asyncio's, but equal times keep the order of their making (I4)."""
        timer = _OrderedTimer(when, callback, args, self, context)
        self._timers_made += 1
        timer.number = self._timers_made
        heapq.heappush(self._scheduled, timer)
        timer._scheduled = True  # type: ignore[attr-defined]  # noqa: SLF001 -- asyncio's own mark
        return timer

    def _call_soon(
        self, callback: Callable[..., object], args: Any, context: Context | None
    ) -> asyncio.Handle:
        handle = _Callback(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def resume(self, process: Process) -> None:
        """A paused process goes on with all that was held, in its order."""
        process.is_paused = False
        held, process.held = process.held, []
        self._ready.extend(held)

    def run_in_executor(  # type: ignore[override]
        self,
        executor: Any,  # noqa: ARG002
        func: Any,
        *args: Any,  # noqa: ARG002
    ) -> NoReturn:
        """Threads would bring in the order of the machine (I2)."""
        raise RuntimeError(f"the simulated world has no threads: {func!r}")

    def _process_events(self, event_list: list[Any]) -> None:
        assert not event_list

    def _write_to_self(self) -> None:
        """Nobody waits in a system call that would have to be woken."""


def run(main: Callable[[], Any]) -> Any:
    """Run the coroutine that `main` makes, from the beginning of time to its end; the rest is cancelled."""
    loop = VirtualTimeLoop()
    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(main())
    finally:
        for task in sorted(asyncio.all_tasks(loop), key=lambda one: one.get_name()):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        asyncio.set_event_loop(None)
        loop.close()
