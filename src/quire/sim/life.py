"""A node that lives on a machine: started, struck, killed, started again, as a supervisor would.

Invariants
  I1  One node at a time; a new one starts only when nothing of the last one is left.
  I2  A node that cannot start on what its disk kept breaks the run: the log must open every time. Only the want of room
      excuses it, for as long as there is none.
Not here   what strikes (nemesis), what a node is (node.boot).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from contextvars import copy_context
from typing import Any, TypeVar

from quire.node.boot import Node, start
from quire.ports.network import Address
from quire.sim.disk import SimulatedCrash
from quire.sim.history import History
from quire.sim.loop import PROCESS, Process, VirtualTimeLoop
from quire.sim.machine import Machine
from quire.sim.trace import Trace

RESTART_SECONDS = 0.5
T = TypeVar("T")


class Life:
    """See the module."""

    def __init__(
        self, machine: Machine, settings: Mapping[str, str], trace: Trace, history: History
    ) -> None:
        self.machine = machine
        self._history = history
        self.settings = dict(settings)
        self.deaths = 0
        self.power_losses = 0
        self.starts = 0
        self._trace = trace
        self._node: Node | None = None
        self._struck = asyncio.Event()
        self._next_death_loses_power = False
        self._is_wanted = True
        self._process = Process()
        machine.on_death = self._on_death

    @property
    def node(self) -> Node | None:
        """The node that runs now."""
        return self._node

    def address(self, listener: str = "PLAINTEXT") -> Address:
        """Where clients find it, through all its lives."""
        port = self.settings["listeners"].split(f"{listener}://")[1].split(",")[0].rpartition(":")
        return Address(self.machine.host, int(port[2]))

    async def run(self) -> None:
        """Keep a node alive until `end`."""
        while self._is_wanted:
            await self._live()
            if self._is_wanted:
                await asyncio.sleep(RESTART_SECONDS)

    def strike(self, *, after_operations: int, loses_power: bool) -> None:
        """End the process in the middle of a disk operation that is still to come."""
        self._next_death_loses_power = loses_power
        self.machine.disk.faults.fail_after(operations=after_operations)

    def kill(self, *, loses_power: bool) -> None:
        """End the process now."""
        self.resume()
        self._next_death_loses_power = loses_power
        self._struck.set()

    def pause(self) -> None:
        """Stop the process where it stands; it knows nothing of it."""
        self._process.is_paused = True

    def resume(self) -> None:
        """Let it go on."""
        loop = asyncio.get_running_loop()
        if self._process.is_paused and isinstance(loop, VirtualTimeLoop):
            loop.resume(self._process)

    async def restart_cleanly(self) -> None:
        """Stop as an operator does; `run` starts it again."""
        node = self._node
        if node is None or self._struck.is_set():
            return
        self.say("is asked to stop")
        stopping = self._begin(node.stop())
        ended = asyncio.ensure_future(self._struck.wait())
        await asyncio.wait({stopping, ended}, return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        if not stopping.done():
            stopping.cancel()  # struck while it stopped: the rest is a crash
            return
        error = stopping.exception()
        if error is None:
            self._node = None
        elif not (isinstance(error, OSError) and self.machine.is_short_of_room):
            raise error
        self._struck.set()

    async def end(self) -> None:
        """Stop for good, cleanly."""
        self._is_wanted = False
        await self.restart_cleanly()

    def on_loop_error(self, error: BaseException | None) -> bool:
        """Told of what came up outside of any task; whether it was the end of the process."""
        if isinstance(error, SimulatedCrash):
            self._on_death(error)
            return True
        return False

    async def _live(self) -> None:
        self._struck.clear()
        self._process = Process()
        self._next_death_loses_power = False
        self.starts += 1
        self.say("starts", life=self.starts)
        ended = asyncio.ensure_future(self._struck.wait())
        starting = self._begin(start(self.machine.boot(), self.settings))
        await asyncio.wait({ended, starting}, return_when=asyncio.FIRST_COMPLETED)
        if await self._has_started(starting):
            if self._is_wanted:
                await self._until_it_fails(ended)
            else:
                await self.restart_cleanly()  # `end` came while it started
        ended.cancel()
        self._bury()

    def _begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """A task of the process, which stands still while the process does."""
        context = copy_context()
        context.run(PROCESS.set, self._process)
        return asyncio.get_running_loop().create_task(work, context=context)

    async def _has_started(self, starting: asyncio.Task[Node]) -> bool:
        if not starting.done():
            starting.cancel()
            await asyncio.wait({starting})
        if starting.cancelled() or isinstance(starting.exception(), SimulatedCrash):
            return False
        error = starting.exception()
        if isinstance(error, OSError) and self.machine.is_short_of_room:
            self.say("could not start", reason=repr(error))
            return False
        self._node = starting.result()  # what it raises breaks the run (I2)
        return not self._struck.is_set()

    async def _until_it_fails(self, ended: asyncio.Future[Any]) -> None:
        assert self._node is not None
        failed = self._begin(self._node.failed())
        await asyncio.wait({ended, failed}, return_when=asyncio.FIRST_COMPLETED)
        if failed.done() and not self._struck.is_set():
            self.say("failed", reason=repr(failed.result()))
            self._struck.set()  # whoever stops it need not wait any more (I1)
        failed.cancel()

    def _bury(self) -> None:
        """Nothing of the process stays (I1)."""
        node, self._node = self._node, None
        if node is not None:
            self.deaths += 1
            node.crash()
        if self._next_death_loses_power:
            self.power_losses += 1
            self._history.generation += 1
            self.say("loses power")
            self.machine.lose_power()
        else:
            self.machine.kill()

    def _on_death(self, _crash: SimulatedCrash) -> None:
        self._struck.set()

    def say(self, text: str, **facts: object) -> None:
        """One line of the trace."""
        self._trace.add(self.machine.host, "life", "", text, **facts)
