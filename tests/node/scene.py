"""What the tests of a node share: one simulated machine whose time is virtual, and directories to begin with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from quire.node.world import World
from quire.ports.disk import Disk
from quire.sim.entropy import SeededEntropy
from quire.sim.loop import run
from quire.sim.machine import Machine
from quire.sim.network import SimNetwork
from quire.sim.trace import Trace

GOLDEN = Path(__file__).parents[1] / "golden"


def on_machine(main: Callable[[Machine], Awaitable[Any]], *, seed: int = 1) -> Any:
    """Run `main` with a machine of its own, to its end."""

    async def begin() -> Any:
        loop = asyncio.get_running_loop()
        entropy = SeededEntropy(seed)
        machine = Machine("b1", loop, SimNetwork(entropy), Trace(loop), entropy)
        return await main(machine)

    return run(begin)


def with_world(main: Callable[[World], Awaitable[Any]], *, seed: int = 1) -> Any:
    """Run `main` with the doors of one process."""
    return on_machine(lambda machine: main(machine.boot()), seed=seed)


def make_directory(disk: Disk, path: str) -> None:
    """A directory that outlives a loss of power."""
    disk.make_directory(path)
    at = path
    while at:
        at = at.rpartition("/")[0]
        disk.flush_directory(at or "/")


def bring(disk: Disk, source: Path, target: str) -> None:
    """Copy a directory of this machine to a simulated disk, durably."""
    make_directory(disk, target)
    for found in sorted(source.iterdir()):
        if found.is_dir():
            bring(disk, found, f"{target}/{found.name}")
            continue
        file = disk.open(f"{target}/{found.name}", create=True)
        file.write(0, [found.read_bytes()])
        file.flush()
        file.close()
    disk.flush_directory(target)
