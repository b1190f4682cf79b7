"""Compaction at work: the most urgent logs are given to the world's cleanings, and their groups taken in.

Invariants
  I1  At most log.cleaner.threads cleanings run, and one for a log.
  I2  A group is taken in on the loop, while no flush of its log is under way; then the cleaning may go on.
  I3  A cleaning whose replica went away, or whose log moved on, is given up and leaves no trace.
Not here   what is due (storage.cleaner.schedule), the rewriting (the world's cleanings).
See        docs/decisions/0007-cleaning-is-a-job.md, KIP-354
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial

from quire.broker.broker import Broker
from quire.broker.replica import Replica
from quire.config.broker import BrokerSettings
from quire.errors import StorageError
from quire.node.tasks import Tasks
from quire.node.world import Cleaning, CleaningEvent, World
from quire.storage.cleaner.job import CleanedGroup, CleaningDone, CleaningFailed
from quire.storage.cleaner.schedule import (
    Assignment,
    CleanerSchedule,
    CleanerSettings,
    CompactedLog,
)


class Cleaner:
    """See the module."""

    def __init__(self, world: World, broker: Broker, tasks: Tasks) -> None:
        self._world = world
        self._broker = broker
        self._tasks = tasks
        self._running: dict[Replica, tuple[Assignment, Cleaning]] = {}
        self._wake = asyncio.Event()
        self.schedule = CleanerSchedule(
            world.disk, cleaner_settings(broker.layers.settings), world.entropy
        )

    async def run(self) -> None:
        """Clean for ever; log.cleaner.backoff.ms between two looks that found nothing."""
        while True:
            settings = self._broker.layers.settings
            self._wake.clear()
            if settings.log_cleaner_enable:
                self.schedule.settings = cleaner_settings(settings)
                self.look()
            try:
                async with asyncio.timeout(settings.log_cleaner_backoff_ms / 1000):
                    await self._wake.wait()
            except TimeoutError:
                continue

    def look(self) -> None:
        """Begin what is due, as far as there is room (I1)."""
        self._give_up_gone()
        while len(self._running) < self.schedule.settings.threads:
            by_place = {one.topic_partition: one for one in self._broker.replicas}
            assignment = self.schedule.next_assignment(
                self._compacted(), now_ms=self._world.clock.wall_ms()
            )
            if assignment is None:
                return
            self._begin(by_place[assignment.topic_partition], assignment)

    def stop(self) -> None:
        """Give everything up."""
        for assignment, cleaning in self._running.values():
            cleaning.stop()
            self.schedule.abandon(assignment)
        self._running.clear()

    def _compacted(self) -> Iterator[CompactedLog]:
        for replica in self._broker.replicas:
            if replica.log.failure is None:
                path = replica.hosted.log_dir.path
                yield CompactedLog(replica.topic_partition, path, replica.log)

    def _begin(self, replica: Replica, assignment: Assignment) -> None:
        settings = self.schedule.settings
        cleaning = self._world.cleanings.start(
            assignment.job,
            bytes_per_second=settings.io_max_bytes_per_second / settings.threads,
            on_event=partial(self._on_event, replica),
        )
        self._running[replica] = assignment, cleaning

    def _on_event(self, replica: Replica, event: CleaningEvent) -> None:
        running = self._running.get(replica)
        if running is None:
            return  # it was given up meanwhile
        assignment, cleaning = running
        if isinstance(event, CleanedGroup):
            self._tasks.start(self._take(replica, cleaning, event), "cleaned segments")
            return
        del self._running[replica]
        if isinstance(event, CleaningFailed):
            self.schedule.fail(assignment, event.reason)
            self._say(replica, "cannot be cleaned", reason=event.reason)
        else:
            self._finish(replica, assignment, event)
        self._wake.set()

    def _finish(self, replica: Replica, assignment: Assignment, done: CleaningDone) -> None:
        if replica.gone is not None:
            self.schedule.abandon(assignment)
            return
        now_ms = self._world.clock.wall_ms()
        try:
            self.schedule.finish(assignment, done, now_ms=now_ms)
        except OSError as error:
            self._broker.replicas.failed(replica.hosted.log_dir, error)
            return
        self._say(
            replica,
            "cleaned",
            until=done.clean_until_offset,
            bytes_before=done.bytes_before,
            bytes_after=done.bytes_after,
        )

    async def _take(self, replica: Replica, cleaning: Cleaning, group: CleanedGroup) -> None:
        """One group's files take the place of the old segments (I2)."""
        await self._broker.replicas.flushes.quiet(replica)
        if replica not in self._running:
            return
        if replica.gone is not None or not self._replaced(replica, group):
            self._give_up(replica)
        else:
            cleaning.go_on()

    def _replaced(self, replica: Replica, group: CleanedGroup) -> bool:
        now_ms = self._world.clock.wall_ms()
        try:
            return replica.log.replace_segments(group.base_offsets, now_ms=now_ms)
        except OSError as error:
            self._broker.replicas.failed(replica.hosted.log_dir, error)
        except StorageError as error:
            self._say(replica, "could not take cleaned segments", reason=str(error))
        return False

    def _give_up(self, replica: Replica) -> None:
        assignment, cleaning = self._running.pop(replica)
        cleaning.stop()
        self.schedule.abandon(assignment)

    def _give_up_gone(self) -> None:
        """I3."""
        for replica in list(self._running):
            if replica.gone is not None:
                self._give_up(replica)

    def _say(self, replica: Replica, text: str, **facts: object) -> None:
        self._world.journal.say("cleaner", str(replica.topic_partition), text, **facts)


def cleaner_settings(settings: BrokerSettings) -> CleanerSettings:
    """What the broker's settings say of cleaning."""
    return CleanerSettings(
        threads=max(1, settings.log_cleaner_threads),
        dedupe_buffer_bytes=settings.log_cleaner_dedupe_buffer_size,
        io_buffer_bytes=settings.log_cleaner_io_buffer_size,
        io_max_bytes_per_second=settings.log_cleaner_io_max_bytes_per_second,
        backoff_ms=settings.log_cleaner_backoff_ms,
    )
