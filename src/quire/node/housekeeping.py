"""What a broker does by the clock: retention, flushes, checkpoints, removals, cleaning, snapshots, reports.

Invariants
  I1  One piece of work runs at a time, and none does after `stop` has returned.
  I2  An error of a log's directory takes that directory offline, and nothing else.
  I3  What blocks for long runs in the background; between two logs the loop goes on.
Not here   what each piece is (storage, broker.flushing, snapshots, cleaning, reports).
See        docs/decisions/0011-work-that-blocks-has-a-door.md
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from quire.broker.broker import Broker
from quire.broker.replica import Replica
from quire.node.cleaning import Cleaner
from quire.node.reports import Reports
from quire.node.snapshots import Snapshots
from quire.node.tasks import Tasks
from quire.node.world import World
from quire.storage import retention
from quire.storage.checkpoints import HIGH_WATERMARKS, LOG_START_OFFSETS, RECOVERY_POINTS
from quire.storage.log_dirs import remove_tree
from quire.storage.log_state import LogOfflineError
from quire.storage.small_files import parent_of

REMOVALS_MS: Final = 1_000
SNAPSHOTS_MS: Final = 5_000
REPORTS_MS: Final = 100
FLUSHES_MS: Final = 1_000
LEAST_MS: Final = 10

Work = Callable[[], Awaitable[None]]


class Housekeeping:
    """See the module."""

    def __init__(self, world: World, broker: Broker, tasks: Tasks, snapshots: Snapshots) -> None:
        self._world = world
        self._broker = broker
        self._tasks = tasks
        self._snapshots = snapshots
        self._reports = Reports(broker)
        self._one_at_a_time = asyncio.Lock()
        self._running: list[asyncio.Task[None]] = []
        self.cleaner = Cleaner(world, broker, tasks)

    def start(self) -> None:
        """From now on."""
        settings = self._broker.layers.settings
        checkpoint = self._broker.replicas.flushes.checkpoint
        self._every(
            "retention",
            settings.log_retention_check_interval_ms,
            self.retain,
            first_ms=settings.log_initial_task_delay_ms,
        )
        self._every(
            "recovery points",
            settings.log_flush_offset_checkpoint_interval_ms,
            partial(checkpoint, RECOVERY_POINTS),
        )
        self._every(
            "log start offsets",
            settings.log_flush_start_offset_checkpoint_interval_ms,
            partial(checkpoint, LOG_START_OFFSETS),
        )
        self._every(
            "high watermarks",
            settings.replica_high_watermark_checkpoint_interval_ms,
            partial(checkpoint, HIGH_WATERMARKS),
        )
        self._every(
            "producers",
            settings.producer_id_expiration_check_interval_ms,
            self.expire_producers,
        )
        self._every("in-sync sets", settings.replica_lag_time_max_ms // 2, self._look_for_laggards)
        self._every(
            "flushes", min(settings.log_flush_scheduler_interval_ms, FLUSHES_MS), self.flush
        )
        self._every("removals", REMOVALS_MS, self.remove)
        self._every("snapshots", SNAPSHOTS_MS, self._snapshots.look)
        self._every("reports", REPORTS_MS, self._reports.look)
        self._running.append(self._tasks.start(self.cleaner.run(), "cleaner"))

    async def stop(self) -> None:
        """Begin nothing any more, and return when nothing runs (I1)."""
        async with self._one_at_a_time:
            for task in self._running:
                task.cancel()
            self.cleaner.stop()

    def drop(self) -> None:
        """As a crash does; the tasks themselves are dropped with the node's."""
        self.cleaner.stop()

    # --- the pieces ---------------------------------------------------------------------------

    async def retain(self) -> None:
        """Let go what no log's settings keep."""
        broker = self._broker
        for replica in list(broker.replicas):
            await broker.replicas.flushes.quiet(replica)
            if replica.gone is not None or replica.log.failure is not None:
                continue
            before = replica.log.log_start_offset
            removed = self._guarded(
                replica, partial(retention.enforce, replica.log, now_ms=self._world.clock.wall_ms())
            )
            if removed is not None and removed.bytes:
                broker.replicas.changed(replica)
                self._say(
                    replica,
                    "let go",
                    bytes=removed.bytes,
                    by_time=removed.by_time,
                    by_size=removed.by_size,
                    log_start=f"{before}>{replica.log.log_start_offset}",
                )
            await asyncio.sleep(0)  # I3

    async def expire_producers(self) -> None:
        """Forget producers that have been silent for long."""
        now_ms = self._world.clock.wall_ms()
        for replica in list(self._broker.replicas):
            if replica.log.failure is None and len(replica.log.producers):
                replica.log.producers.remove_expired(now_ms)
                await asyncio.sleep(0)

    async def flush(self) -> None:
        """Begin the flushes that are due by the topics' settings."""
        self._broker.replicas.flushes.due(self._broker.replicas)

    async def remove(self) -> None:
        """Unlink what was set aside long enough ago."""
        broker, background = self._broker, self._world.background
        now_ms = self._world.clock.wall_ms()
        for replica in list(broker.replicas):
            for deletion in replica.log.deletions.due(now_ms) if replica.log.deletions else ():
                try:
                    await background.run(deletion.run)
                except OSError as error:
                    broker.replicas.failed(replica.hosted.log_dir, error)
        for path in broker.log_dirs.deletions_due(now_ms):
            try:
                await background.run(partial(remove_tree, self._world.disk, path))
            except OSError as error:
                for log_dir in broker.log_dirs.online:
                    if log_dir.path == parent_of(path):
                        broker.replicas.failed(log_dir, error)

    async def _look_for_laggards(self) -> None:
        self._broker.replicas.on_time()

    # --- inside -------------------------------------------------------------------------------

    def _every(
        self, name: str, interval_ms: int, work: Work, *, first_ms: int | None = None
    ) -> None:
        async def again_and_again() -> None:
            pause_ms = interval_ms if first_ms is None else first_ms
            while True:
                await asyncio.sleep(max(pause_ms, LEAST_MS) / 1000)
                async with self._one_at_a_time:
                    await work()
                pause_ms = interval_ms

        self._running.append(self._tasks.start(again_and_again(), name))

    def _guarded(
        self, replica: Replica, work: Callable[[], retention.Removed]
    ) -> retention.Removed | None:
        """I2."""
        try:
            return work()
        except LogOfflineError:
            return None
        except OSError as error:
            self._broker.replicas.failed(replica.hosted.log_dir, error)
            return None

    def _say(self, replica: Replica, text: str, **facts: object) -> None:
        self._world.journal.say("log", str(replica.topic_partition), text, **facts)
