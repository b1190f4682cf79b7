"""Flushing: when the bytes of a log become durable, and who waits for that.

A flush is three steps, so that the slow one can run on a helper thread while appends go on: `begin`
(on the loop: nothing in memory stays behind), `FlushPlan.run` (anywhere: fsync), `finish` (on the
loop: the recovery point moves). `flush` does all three.

Invariants
  I1  The recovery point moves only after everything below it is durable: bytes, indexes of sealed
      segments, and names.
  I2  The indexes of the active segment need no fsync: the segment that holds the recovery point is
      scanned after a crash, and its indexes are built anew.
  I3  After a failed fsync the log is offline: the system may have dropped the pages, and a second
      fsync that succeeds would prove nothing.
  I4  One plan at a time: its run writes the epoch history, perhaps on another thread, and so does
      retention, which therefore waits for the next pass while a plan is not finished.
Not here   the threads, and the checkpoint of recovery points (storage.log_dirs).
See        docs/decisions/0004-active-index-in-memory.md
"""

from __future__ import annotations

from collections import deque
from typing import Generic, NamedTuple, TypeVar

from quire.ports.disk import Disk, File
from quire.storage.leader_epochs import LeaderEpochs
from quire.storage.log_state import LogState

Waiter = TypeVar("Waiter")


class FlushPlan(NamedTuple):
    """What to make durable so that the recovery point may become `end_offset`."""

    disk: Disk
    leader_epochs: LeaderEpochs
    files: tuple[File, ...]
    directory: str | None
    end_offset: int
    truncations: int
    """How often the log had been truncated: a later truncation makes the plan's end meaningless."""
    started_ms: int

    def run(self) -> None:
        """Block until all is durable."""
        self.leader_epochs.save()
        for file in self.files:
            file.flush()
        if self.directory is not None:
            self.disk.flush_directory(self.directory)


def begin(log: LogState, *, now_ms: int, up_to: int | None = None) -> FlushPlan:
    """Plan to flush what is below `up_to` (None: everything). On the loop.

    To be followed by `finish` or `fail` before the next one begins (I4).
    """
    log.fail_if_offline()
    assert not log.flush_is_under_way  # I4
    end_offset = log.log_end_offset if up_to is None else min(up_to, log.log_end_offset)
    files: list[File] = []
    if end_offset > log.recovery_point or log.sealed_since_flush:
        # The last byte before the recovery point may be in a segment that was sealed after its flush.
        first = log.segments.index_for(log.recovery_point - 1)
        for segment in log.segments[first:]:
            if segment.base_offset >= end_offset:
                break
            sealed = segment is not log.segments.active
            files.extend(segment.files_to_flush(with_indexes=sealed))
    directory = log.directory if log.directory_is_dirty else None
    log.directory_is_dirty = log.sealed_since_flush = False
    log.flush_is_under_way = True
    return FlushPlan(
        disk=log.disk,
        leader_epochs=log.leader_epochs,
        files=tuple(files),
        directory=directory,
        end_offset=end_offset,
        truncations=log.truncations,
        started_ms=now_ms,
    )


def finish(log: LogState, plan: FlushPlan) -> None:
    """The plan has run: move the recovery point, unless the log was cut meanwhile. On the loop."""
    log.flush_is_under_way = False
    if plan.truncations == log.truncations:
        log.recovery_point = max(log.recovery_point, plan.end_offset)
    log.last_flush_ms = plan.started_ms


def postpone(log: LogState) -> None:
    """The plan was given up before anything was flushed: as if it had not been made. On the loop."""
    log.flush_is_under_way = False
    log.directory_is_dirty = log.sealed_since_flush = True


def fail(log: LogState, error: OSError) -> None:
    """The plan has failed: nothing more is served (I3). On the loop."""
    log.flush_is_under_way = False
    log.failure = error
    log.directory_is_dirty = log.sealed_since_flush = True


def flush(log: LogState, *, now_ms: int, up_to: int | None = None) -> None:
    """Make everything below `up_to` durable, blocking."""
    plan = begin(log, now_ms=now_ms, up_to=up_to)
    try:
        plan.run()
    except OSError as error:
        fail(log, error)
        raise
    finish(log, plan)


def close(log: LogState, *, now_ms: int) -> None:
    """Leave the log so that the next start has nothing to repair; it cannot be used afterwards.

    A log that is offline is left as it is, for recovery.
    """
    if log.failure is None:
        active = log.segments.active
        active.seal()
        log.producers.take_snapshot(flush=True)
        if active.size or log.truncations:  # else its files are empty since they were made
            log.directory_is_dirty = True
            for file in active.files_to_flush(with_indexes=True):
                file.flush()
        flush(log, now_ms=now_ms)
    for segment in log.segments:
        segment.close()


def flush_due(log: LogState, *, now_ms: int) -> int | None:
    """Up to which offset a flush is due, by the settings or because of a roll; None: none is."""
    settings = log.settings
    unflushed = log.log_end_offset - log.recovery_point
    if unflushed <= 0:
        return None
    if unflushed >= settings.flush_messages or now_ms - log.last_flush_ms >= settings.flush_ms:
        return log.log_end_offset
    sealed_end = log.segments.active.base_offset
    return sealed_end if sealed_end > log.recovery_point else None


class GroupCommit(Generic[Waiter]):
    """Those who wait until their append is durable; one fsync serves all who came before it began.

    It has no thread: whoever owns the log asks `next_flush`, runs the flush, and reports back.
    """

    __slots__ = ("_flushing_to", "_waiting")

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, Waiter]] = deque()
        self._flushing_to: int | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def wait(self, end_offset: int, waiter: Waiter) -> None:
        """`waiter` is released once everything below `end_offset` is durable."""
        self._waiting.append((end_offset, waiter))

    def next_flush(self) -> int | None:
        """Up to where to flush now; None when nobody waits, or while a flush runs."""
        if self._flushing_to is not None or not self._waiting:
            return None
        self._flushing_to = max(end_offset for end_offset, _ in self._waiting)
        return self._flushing_to

    def flushed(self, recovery_point: int) -> list[Waiter]:
        """The flush is done; those whose appends lie below it, in the order they came."""
        self._flushing_to = None
        released = [waiter for end, waiter in self._waiting if end <= recovery_point]
        self._waiting = deque(entry for entry in self._waiting if entry[0] > recovery_point)
        return released

    def truncated(self, log_end_offset: int) -> list[Waiter]:
        """The log was cut; those whose appends are gone, to be told so. A flush would never release them."""
        gone = [waiter for end, waiter in self._waiting if end > log_end_offset]
        self._waiting = deque(entry for entry in self._waiting if entry[0] <= log_end_offset)
        return gone

    def failed(self) -> list[Waiter]:
        """The flush failed; all who waited, to be told so."""
        self._flushing_to = None
        released = [waiter for _, waiter in self._waiting]
        self._waiting.clear()
        return released
