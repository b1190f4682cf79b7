"""Whoever breaks things: one fault after the other, drawn from a seed, until the time of faults is over.

    kill        the process ends, what it wrote stays
    power loss  the machine ends, what was not flushed may go
    strike      either of them, in the middle of a disk operation
    restart     a clean stop and start
    full disk   for some seconds nothing more can be written
    cut         for some seconds nothing gets through between a client and the node, one way or both
    mute        for some seconds what is asked is done, and each answer breaks its connection instead of arriving
    reset       every connection breaks
    pause       for some seconds the process stands still, and then goes on as if nothing had been
    jump        the wall clock is set forward or back

Invariants
  I1  Everything is healed when `run` returns: no fault outlives the time of faults.
Not here   what it means (laws), how a node is started again (life).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from quire.sim.entropy import SeededEntropy
from quire.sim.history import History
from quire.sim.life import Life
from quire.sim.network import SimNetwork

Fault = Callable[[], object]
WEIGHTS = {
    "kill": 3,
    "power loss": 3,
    "strike": 4,
    "restart": 1,
    "full disk": 2,
    "cut": 2,
    "reset": 2,
    "jump": 1,
    "mute": 2,
    "pause": 2,
}
"""How likely each is: what is likelier to find something comes more often."""
PAUSE_MS = 20_000
"""Longer than sessions and answers are waited for, now and then."""


class Nemesis:
    """See the module."""

    def __init__(
        self,
        life: Life,
        network: SimNetwork,
        clients: Sequence[str],
        history: History,
        entropy: SeededEntropy,
        *,
        weights: Mapping[str, int] = WEIGHTS,
    ) -> None:
        self._life = life
        self._network = network
        self._clients = tuple(clients)
        self._history = history
        self._entropy = entropy
        self._weights = dict(weights)
        self._faults: dict[str, Fault] = {
            "kill": lambda: self._life.kill(loses_power=False),
            "power loss": lambda: self._life.kill(loses_power=True),
            "strike": self._strike,
            "restart": self._life.restart_cleanly,
            "full disk": self._fill_disk,
            "cut": self._cut,
            "reset": lambda: self._network.reset_all(self._life.machine.host),
            "jump": self._jump,
            "mute": self._mute,
            "pause": self._pause,
        }

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
        drawn = self._entropy.below(sum(self._weights.values()))
        for name, weight in self._weights.items():
            drawn -= weight
            if drawn < 0:
                self._history.count_fault(name)
                self._life.say(f"nemesis: {name}")
                waiting = self._faults[name]()
                if asyncio.iscoroutine(waiting):
                    await waiting
                return

    def _strike(self) -> None:
        operations = self._entropy.below(1 << self._entropy.below(9))
        loses_power = self._entropy.one_in(2) and "power loss" in self._weights
        self._life.strike(after_operations=operations, loses_power=loses_power)

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

    async def _mute(self) -> None:
        host = self._life.machine.host
        for client in self._clients:
            self._network.mute(host, client)
        await asyncio.sleep(self._entropy.below(1500) / 1000)
        for client in self._clients:
            self._network.unmute(host, client)

    async def _pause(self) -> None:
        self._life.pause()
        await asyncio.sleep(self._entropy.below(1 + self._entropy.below(PAUSE_MS)) / 1000)
        self._life.resume()

    def _jump(self) -> None:
        self._life.machine.clock.jump((self._entropy.below(2 * 3600) - 3600) * 1000)

    def _heal(self) -> None:
        """I1."""
        self._life.machine.empty_disk()
        self._life.machine.disk.faults.strike_no_more()
