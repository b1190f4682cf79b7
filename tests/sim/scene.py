"""A simulated machine with a node that lives on it, for tests of what strikes and of what works against it.

async def main(scene: Scene) -> None:
    await scene.until_serving()
    ...
living(main)
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tests.node.scene import CLUSTER_ID, SETTINGS

from quire.clients.cluster import Cluster
from quire.clients.errors import ClientError
from quire.node.format import Formatting, format_directories
from quire.sim.entropy import SeededEntropy
from quire.sim.history import History
from quire.sim.life import Life
from quire.sim.loop import run
from quire.sim.machine import Machine
from quire.sim.network import SimNetwork
from quire.sim.trace import Trace
from quire.sim.workloads.work import World

CLIENTS = "clients"


class Scene:
    """See the module."""

    def __init__(self, seed: int, **settings: str) -> None:
        loop = asyncio.get_running_loop()
        self.entropy = SeededEntropy(seed)
        self.trace = Trace(loop)
        self.history = History()
        self.network = SimNetwork(self.entropy)
        self.machine = Machine("b1", loop, self.network, self.trace, self.entropy)
        texts = {name.replace("_", "."): text for name, text in settings.items()}
        self.life = Life(self.machine, {**SETTINGS, **texts}, self.trace, self.history)
        self.unheard: list[Any] = []
        loop.set_exception_handler(self._on_error)
        format_directories(
            self.machine.disk,
            self.life.settings,
            Formatting(cluster_id=CLUSTER_ID, standalone=True),
            entropy=self.entropy.stream("format"),
            now_ms=self.machine.clock.wall_ms(),
        )
        self.running = asyncio.ensure_future(self.life.run())

    def _on_error(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not self.life.on_loop_error(context.get("exception")):
            self.unheard.append(context.get("exception") or context.get("message"))

    def world(self) -> World:
        """What a workload is given."""
        network = self.network.machine(CLIENTS)
        return World(self.life, network, self.history, self.trace)

    def cluster(self, client_id: str = "test") -> Cluster:
        return Cluster(self.network.machine(CLIENTS), [self.life.address()], client_id=client_id)

    async def until_serving(self, within_seconds: float = 60.0) -> None:
        """Return once a client is answered."""
        async with asyncio.timeout(within_seconds):
            while not await self._answers():  # noqa: ASYNC110 -- a client knows no other way
                await asyncio.sleep(0.05)

    async def _answers(self) -> bool:
        try:
            async with asyncio.timeout(2), self.cluster():
                return True
        except (OSError, TimeoutError, ClientError):
            return False


def living(main: Callable[[Scene], Awaitable[Any]], *, seed: int = 1, **settings: str) -> Any:
    """Run `main` with a node alive beside it, and end that life cleanly."""

    async def begin() -> Any:
        scene = Scene(seed, **settings)
        result = await main(scene)
        if not scene.running.done():
            await scene.life.end()
        await scene.running
        assert scene.unheard == []
        return result

    return run(begin)
