"""Cleanings in a world without processes: the real rewriting, one group at a time, with pauses between.

Invariants
  I1  After a group nothing goes on before `go_on`; after `stop` nothing does at all.
  I2  The last event is a CleaningDone or a CleaningFailed.
See        storage.cleaner.rewrite, docs/decisions/0007-cleaning-is-a-job.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TypeAlias

from quire.errors import QuireError
from quire.ports.disk import Disk
from quire.sim.disk import SimulatedCrash
from quire.sim.entropy import SeededEntropy
from quire.storage.cleaner.job import CleanedGroup, CleaningDone, CleaningFailed, CleaningJob
from quire.storage.cleaner.rewrite import clean

CleaningEvent: TypeAlias = CleanedGroup | CleaningDone | CleaningFailed

PAUSE_MS = 20


class SimCleanings:
    """Where cleanings run; see node.world."""

    def __init__(
        self,
        disk: Disk,
        entropy: SeededEntropy,
        on_crash: Callable[[SimulatedCrash], None],
    ) -> None:
        self._disk = disk
        self._entropy = entropy
        self._on_crash = on_crash
        self._running: list[SimCleaning] = []

    def start(
        self,
        job: CleaningJob,
        *,
        bytes_per_second: float,  # noqa: ARG002 -- time is drawn here, not measured
        on_event: Callable[[CleaningEvent], None],
    ) -> SimCleaning:
        """Begin."""
        steps = clean(job, self._disk, lambda _size: None)
        cleaning = SimCleaning(steps, self._entropy, self._on_crash, on_event)
        self._running = [one for one in self._running if not one.ended] + [cleaning]
        cleaning.go_on()
        return cleaning

    def stop(self) -> None:
        """The process is gone, and all of its cleanings."""
        for cleaning in self._running:
            cleaning.stop()


class SimCleaning:
    """One cleaning."""

    def __init__(
        self,
        steps: Iterator[CleanedGroup | CleaningDone],
        entropy: SeededEntropy,
        on_crash: Callable[[SimulatedCrash], None],
        on_event: Callable[[CleaningEvent], None],
    ) -> None:
        self._steps = steps
        self._entropy = entropy
        self._on_crash = on_crash
        self._on_event = on_event
        self.ended = False

    def go_on(self) -> None:
        """The next group, a little later."""
        delay_ms = self._entropy.below(PAUSE_MS)
        asyncio.get_running_loop().call_later(delay_ms / 1000, self._step)

    def stop(self) -> None:
        """Nothing more comes."""
        self.ended = True

    def _step(self) -> None:
        if self.ended:
            return
        event: CleaningEvent
        try:
            event = next(self._steps)
        except SimulatedCrash as crash:
            self.ended = True
            self._on_crash(crash)
            return
        except (QuireError, OSError) as error:
            event = CleaningFailed(str(error))
        self.ended = not isinstance(event, CleanedGroup)
        self._on_event(event)
