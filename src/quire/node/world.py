"""Everything of the world that a node reaches: the doors, and what stands behind them for its longer work.

The runtime makes one of these out of the machine, the simulation out of a seed; the node cannot tell which.

Invariants
  I1  A node holds no other way to files, sockets, time, chance, threads and processes.
See        docs/decisions/0001-pure-rooms-and-ports.md
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from quire.ports.background import Background
from quire.ports.clock import Clock
from quire.ports.disk import Disk
from quire.ports.entropy import Entropy
from quire.ports.network import Network
from quire.storage.cleaner.job import CleanedGroup, CleaningDone, CleaningFailed, CleaningJob
from quire.storage.log_dirs import RunEach

CleaningEvent: TypeAlias = CleanedGroup | CleaningDone | CleaningFailed


class Journal(Protocol):
    """Where transitions are told, one line each."""

    def say(self, room: str, subject: str, text: str, **facts: object) -> None:
        """`room` speaks of `subject` (a partition, the quorum, a listener): what happened, and its figures."""
        ...


class Cleaning(Protocol):
    """A cleaning that runs elsewhere."""

    def go_on(self) -> None:
        """The group that was told last is committed."""
        ...

    def stop(self) -> None:
        """Give it up; no more events come."""
        ...


class Cleanings(Protocol):
    """Where cleanings run: beside the loop, told to it event by event."""

    def start(
        self,
        job: CleaningJob,
        *,
        bytes_per_second: float,
        on_event: Callable[[CleaningEvent], None],
    ) -> Cleaning:
        """Begin; every event comes on the loop, the last one is CleaningDone or CleaningFailed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """See the module."""

    disk: Disk
    network: Network
    clock: Clock
    entropy: Entropy
    background: Background
    cleanings: Cleanings
    journal: Journal
    run_each: Callable[[int], RunEach]
    """Told how many threads a directory may have, gives what opens logs with them."""
    host_name: str = "localhost"
    """What others call this machine."""
