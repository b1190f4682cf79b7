"""Whoever breaks things: one fault after the other, drawn from a seed, until the time of faults is over.

    kill        the process ends, what it wrote stays
    power loss  the machine ends, what was not flushed may go
    strike      either of them, in the middle of a disk operation
    restart     a clean stop and start
    full disk   for some seconds nothing more can be written
    cut         for some seconds nothing gets through between a client and the node, one way or both
    reset       every connection breaks
    jump        the wall clock is set forward or back

Invariants
  I1  Everything is healed when `run` returns: no fault outlives the time of faults.
Not here   what it means (laws), how a node is started again (life).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from quire.sim.entropy import SeededEntropy
from quire.sim.history import History
from quire.sim.life import Life
from quire.sim.network import SimNetwork

Fault = Callable[[], object]


class Nemesis:
    """See the module."""

    def __init__(
        self,
        life: Life,
        network: SimNetwork,
        clients: Sequence[str],
        history: History,
        entropy: SeededEntropy,
    ) -> None:
        self._life = life
        self._network = network
        self._clients = tuple(clients)
        self._history = history
        self._entropy = entropy
        self._faults: tuple[tuple[str, int, Callable[[], object]], ...] = (
            ("kill", 3, lambda: self._life.kill(loses_power=False)),
            ("power loss", 3, lambda: self._life.kill(loses_power=True)),
            ("strike", 4, self._strike),
            ("restart", 1, self._life.restart_cleanly),
            ("full disk", 2, self._fill_disk),
            ("cut", 2, self._cut),
            ("reset", 2, lambda: self._network.reset_all(self._life.machine.host)),
            ("jump", 1, self._jump),
        )

    async def run(self, *, seconds: float, every_ms: int) -> None:
        """Break something every now and then."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while (left := end - loop.time()) > 0:
            await asyncio.sleep(min(left, self._entropy.below(2 * every_ms) / 1000))
            if loop.time() < end:
                await self._break_something()
        self._heal()

    async def _break_something(self) -> None:
        drawn = self._entropy.below(sum(weight for _, weight, _ in self._faults))
        for name, weight, fault in self._faults:
            drawn -= weight
            if drawn < 0:
                self._history.count_fault(name)
                self._life.say(f"nemesis: {name}")
                waiting = fault()
                if asyncio.iscoroutine(waiting):
                    await waiting
                return

    def _strike(self) -> None:
        operations = self._entropy.below(1 << self._entropy.below(9))
        self._life.strike(after_operations=operations, loses_power=self._entropy.one_in(2))

    async def _fill_disk(self) -> None:
        self._life.machine.fill_disk(self._entropy.below(20_000))
        await asyncio.sleep(self._entropy.below(3000) / 1000)
        self._life.machine.empty_disk()

    async def _cut(self) -> None:
        host, client = (
            self._life.machine.host,
            self._clients[self._entropy.below(len(self._clients))],
        )
        links = [[(host, client)], [(client, host)], [(host, client), (client, host)]]
        chosen = links[self._entropy.below(3)]
        for source, target in chosen:
            self._network.cut(source, target)
        await asyncio.sleep(self._entropy.below(6000) / 1000)
        for source, target in chosen:
            self._network.repair(source, target)

    def _jump(self) -> None:
        self._life.machine.clock.jump((self._entropy.below(2 * 3600) - 3600) * 1000)

    def _heal(self) -> None:
        """I1."""
        self._life.machine.empty_disk()
        self._life.machine.disk.faults.strike_no_more()
