"""Cleanings in processes of their own, told to the loop as their pipes become readable.

Invariants
  I1  After the last event, or `stop`, nothing of a cleaning is left: no process, no pipe, no reader on the loop.
See        node.world (Cleanings), runtime.cleaner_pool
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from quire.node.world import CleaningEvent
from quire.runtime.cleaner_pool import CleaningWorker
from quire.storage.cleaner.job import CleanedGroup, CleaningJob


class ProcessCleanings:
    """See the module."""

    def __init__(self) -> None:
        self._running: list[ProcessCleaning] = []

    def start(
        self,
        job: CleaningJob,
        *,
        bytes_per_second: float,
        on_event: Callable[[CleaningEvent], None],
    ) -> ProcessCleaning:
        """Begin a cleaning."""
        cleaning = ProcessCleaning(CleaningWorker(job, bytes_per_second), on_event)
        self._running = [one for one in self._running if not one.ended] + [cleaning]
        return cleaning

    def close(self) -> None:
        """Give every cleaning up."""
        for cleaning in self._running:
            cleaning.stop()
        self._running = []


class ProcessCleaning:
    """One cleaning."""

    def __init__(self, worker: CleaningWorker, on_event: Callable[[CleaningEvent], None]) -> None:
        self._worker = worker
        self._on_event = on_event
        self._loop = asyncio.get_running_loop()
        self._descriptor = worker.fileno()
        self._loop.add_reader(self._descriptor, self._on_readable)

    @property
    def ended(self) -> bool:
        return self._worker.ended

    def go_on(self) -> None:
        self._worker.go_on()

    def stop(self) -> None:
        if not self._worker.ended:
            self._loop.remove_reader(self._descriptor)
            self._worker.stop()

    def _on_readable(self) -> None:
        """One wake-up may bring several events, or none yet."""
        while not self._worker.ended:
            event = self._worker.poll()
            if event is None:
                return
            if not isinstance(event, CleanedGroup):
                self._loop.remove_reader(self._descriptor)
            self._on_event(event)
