"""When what was appended becomes durable, and who is told: every flush and checkpoint of a running broker goes here.

Invariants
  I1  Flushes of one replica run one after the other; `quiet` returns when none runs.
  I2  Whoever waits for durability is told once: True when it is on the disk, False when it will not be.
  I3  Checkpoints are written by one at a time.
  I4  A flush that only lacked room for the epoch history changed nothing, and is tried again when it is due again.
Not here   what a flush is (storage.flush), what becomes of a directory that failed (replicas).
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, TypeAlias

from quire.broker.metrics import Metrics
from quire.broker.replica import Replica, TellDurable
from quire.ports.background import Background
from quire.ports.clock import Clock
from quire.storage import flush
from quire.storage.flush import FlushPlan
from quire.storage.log_dir import CheckpointPlan, LogDir
from quire.storage.log_dirs import LogDirs
from quire.storage.log_state import LogOfflineError

Failed: TypeAlias = Callable[[LogDir, OSError], None]


def is_disk_full(error: OSError) -> bool:
    """Whether room is all that was missing."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


class Flushes:
    """See the module. `failed` is told of every call on a directory that failed."""

    def __init__(
        self,
        *,
        log_dirs: LogDirs,
        clock: Clock,
        background: Background,
        metrics: Metrics,
        failed: Failed,
    ) -> None:
        self._log_dirs = log_dirs
        self._clock = clock
        self._background = background
        self._metrics = metrics
        self._failed = failed
        self._checkpointing = asyncio.Lock()
        self._tasks: dict[asyncio.Task[None], None] = {}

    async def flush(self, replica: Replica, *, up_to: int | None = None) -> None:
        """Make what is below `up_to` (None: everything) durable, after the flush that may be under way."""
        await self.quiet(replica)
        if replica.gone is None and replica.log.failure is None:
            await self._flush(replica, up_to)

    async def quiet(self, replica: Replica) -> None:
        """Return once no flush of this replica runs (I1)."""
        while replica.flushing is not None:
            await asyncio.shield(replica.flushing)

    def soon(self, replica: Replica, *, up_to: int | None = None) -> None:
        """Begin a flush, without anybody waiting for it."""
        self.begin(self.flush(replica, up_to=up_to))

    def due(self, replicas: Iterable[Replica]) -> int:
        """Begin every flush that is due by the settings, or because of a roll; how many."""
        begun = 0
        now_ms = self._clock.wall_ms()
        for replica in replicas:
            if replica.flushing is None and replica.log.failure is None:
                up_to = flush.flush_due(replica.log, now_ms=now_ms)
                if up_to is not None:
                    self.soon(replica, up_to=up_to)
                    begun += 1
        return begun

    def when_durable(self, replica: Replica, end_offset: int, tell: TellDurable) -> None:
        """`tell` once everything below `end_offset` is on the disk; one flush serves all who came before it (I2)."""
        if replica.gone is not None:
            tell(False)  # noqa: FBT003 -- it is what is told
        elif replica.log.recovery_point >= end_offset:
            tell(True)  # noqa: FBT003
        else:
            replica.commits.wait(end_offset, tell)
            if (
                len(replica.commits) == 1
            ):  # a flush that is under way is not for him, and nobody's duty
                self.begin(self._commit(replica))

    async def checkpoint(self, name: str) -> None:
        """Write one kind of checkpoint in every directory where it would say something new."""
        async with self._checkpointing:
            await self._write(
                plan
                for plan in self._log_dirs.checkpoint_plans(name)
                if plan.log_dir.written.get(name) != plan.offsets
            )

    async def write(self, log_dir: LogDir, names: Iterable[str]) -> bool:
        """Write these checkpoints of one directory as they are now; whether all are on the disk."""
        async with self._checkpointing:
            plans = [log_dir.checkpoint(name) for name in names]
            await self._write(plans)
        return all(log_dir.written.get(one.name) == one.offsets for one in plans)

    async def _write(self, plans: Iterable[CheckpointPlan]) -> None:
        """A directory that fails is told of."""
        for plan in plans:
            try:
                await self._background.run(plan.run)
            except OSError as error:
                self._failed(plan.log_dir, error)

    async def settle(self) -> None:
        """Return when nothing that was begun here goes on."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def drop(self) -> None:
        """End everything without waiting, as a crash does."""
        for task in list(self._tasks):
            task.cancel()

    async def _commit(self, replica: Replica) -> None:
        """Flush until nobody waits for it."""
        await self.quiet(replica)
        while replica.gone is None and replica.log.failure is None:
            up_to = replica.commits.next_flush()
            if up_to is None:
                return
            await self._flush(replica, None)

    async def _flush(self, replica: Replica, up_to: int | None) -> None:
        log = replica.log
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        replica.flushing = done
        started_ns = self._clock.monotonic_ns()
        try:
            plan = flush.begin(log, now_ms=self._clock.wall_ms(), up_to=up_to)
            await self._run(replica, plan)
        except LogOfflineError:
            self._tell(replica.commits.failed(), durable=False)
        except OSError as error:
            self._tell(replica.commits.failed(), durable=False)
            self._failed(replica.hosted.log_dir, error)
        else:
            self._metrics.flushes.add(self._clock.monotonic_ns() - started_ns)
            self._tell(replica.commits.flushed(log.recovery_point), durable=True)
        finally:
            replica.flushing = None
            done.set_result(None)

    async def _run(self, replica: Replica, plan: FlushPlan) -> None:
        try:
            await self._background.run(plan.run)
        except OSError as error:
            if is_disk_full(error) and plan.leader_epochs.is_dirty:
                flush.postpone(replica.log)  # I4: nothing was flushed yet
            else:
                flush.fail(replica.log, error)
            raise
        flush.finish(replica.log, plan)

    @staticmethod
    def _tell(waiters: Iterable[TellDurable], *, durable: bool) -> None:
        for tell in waiters:
            tell(durable)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` beside everything else; `settle` waits for it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[task] = None
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        with suppress(asyncio.CancelledError):
            error = task.exception()
            if error is not None:
                asyncio.get_running_loop().call_exception_handler(
                    {"message": "a flush failed", "exception": error, "task": task}
                )
