"""One simulated machine: a host on the network, a disk that outlives its processes, and one process at a time.

    machine = Machine("b1", loop, network, trace, entropy)
    world = machine.boot()           the doors of the next process
    machine.on_death = ...           told when the disk struck it in the middle of an operation
    machine.kill() / machine.lose_power()

Invariants
  I1  A process that has died reaches nothing any more: its disk is dead, its background and cleanings have stopped, its
      streams are gone.
  I2  What the next process finds on the disk is what `SimDisk.kill` or `SimDisk.crash` leaves.
Not here   who kills whom, and when (nemesis).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from quire.node.world import World
from quire.sim.background import SimBackground
from quire.sim.cleanings import SimCleanings
from quire.sim.clock import LoopClock
from quire.sim.disk import SimDisk, SimulatedCrash
from quire.sim.entropy import SeededEntropy
from quire.sim.network import SimNetwork
from quire.sim.trace import Trace, TraceJournal
from quire.storage.log_dirs import RunEach, run_in_turn


class Machine:
    """See the module."""

    def __init__(
        self,
        host: str,
        loop: asyncio.AbstractEventLoop,
        network: SimNetwork,
        trace: Trace,
        entropy: SeededEntropy,
    ) -> None:
        self.host = host
        self.clock = LoopClock(loop)
        self._entropy = entropy.stream(host)
        self.disk = SimDisk(self._entropy.below(2**62), clock=self.clock)
        self._network = network
        self._trace = trace
        self._background: SimBackground | None = None
        self._cleanings: SimCleanings | None = None
        self._lives = 0
        self.on_death: Callable[[SimulatedCrash], None] = _nobody_cares

    def boot(self) -> World:
        """The doors of the next process."""
        self._lives += 1
        entropy = self._entropy.stream(f"life {self._lives}")
        self._background = SimBackground(entropy.stream("background"), self._died)
        self._cleanings = SimCleanings(self.disk, entropy.stream("cleanings"), self._died)
        return World(
            disk=self.disk,
            network=self._network.machine(self.host),
            clock=self.clock,
            entropy=entropy.stream("node"),
            background=self._background,
            cleanings=self._cleanings,
            journal=TraceJournal(self._trace, self.host),
            run_each=_in_turn,
            host_name=self.host,
        )

    def kill(self) -> None:
        """The process ends; the machine goes on."""
        self._end_process()
        self.disk = self.disk.kill()

    def lose_power(self) -> None:
        """The machine ends; its disk keeps what was flushed, and some of the rest."""
        self._end_process()
        self.disk = self.disk.crash()

    def fill_disk(self, left_bytes: int) -> None:
        """Only so much can be written any more."""
        self.disk.faults.capacity_bytes = self.disk.used_bytes + left_bytes

    @property
    def is_short_of_room(self) -> bool:
        return self.disk.faults.capacity_bytes is not None

    def empty_disk(self) -> None:
        """There is room again."""
        self.disk.faults.capacity_bytes = None

    def _end_process(self) -> None:
        if self._background is not None and self._cleanings is not None:
            self._background.stop()
            self._cleanings.stop()
        self._network.unplug(self.host)

    def _died(self, crash: SimulatedCrash) -> None:
        self._trace.add(self.host, "disk", "", f"struck in the middle: {crash}")
        self.on_death(crash)


def _nobody_cares(crash: SimulatedCrash) -> None:
    raise crash


def _in_turn(_threads: int) -> RunEach:
    return run_in_turn
