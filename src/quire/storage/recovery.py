"""Recovery: after an unclean stop, find out how far a log is whole, and build anew what belongs to
it.

From the segment that holds the recovery point on, every batch is read and checked; indexes,
producer state, epochs and aborted transactions are collected on the way. The first bad batch ends
the log.

Invariants
  I1  A segment that lies below the recovery point is not cut, whatever is in it: it was flushed once, so
      damage in it is no torn tail. It is reported, and reading it there is an error. Only the newest of
      these segments is scanned at all: it may have been sealed after its flush.
  I2  Afterwards the log holds exactly the batches before the first bad one, in ascending offsets.
  I3  Without compaction segments join without a gap: one that does not is what a crash left behind a
      lost file, and goes, or a replica would keep the hole for ever.
  I4  Nothing is dropped silently: the report names file, position, reason and bytes, and says when
      sound batches stood behind the bad one (then it was no torn tail, and data was lost).
  I5  The memory taken is one read chunk, or one batch when that is larger.
  I6  What was cut is gone for good before anything is appended: the next crash must not bring it back
      behind new batches.
Not here   which files are there at all (storage.loading).
See        docs/formats/segment.md
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from quire.errors import CorruptBatchError
from quire.records.batch import check_crc
from quire.storage import replay, scan
from quire.storage.log_state import LogState
from quire.storage.scan import BatchView
from quire.storage.segment import Segment

RECOVERY_CHUNK_BYTES = 2 << 20

Progress: TypeAlias = Callable[[int, int], None]
"""Told (bytes scanned, bytes to scan) after every segment."""


@dataclass(slots=True)
class RecoveryReport:
    """What opening a log found and did. Quiet when `is_sound`."""

    scanned_bytes: int = 0
    truncated_bytes: int = 0
    path: str | None = None
    position: int | None = None
    reason: str | None = None
    sound_batches_behind: int = 0
    """Batches with a right checksum behind the bad one: above 0 this was no torn tail."""
    damaged: list[CorruptBatchError] = field(default_factory=list)
    """Bad batches in what was flushed once: they are still there."""
    removed_segments: list[str] = field(default_factory=list)
    removed_files: list[str] = field(default_factory=list)
    rebuilt: list[str] = field(default_factory=list)
    """Small states that were missing or broken and were made anew, each with its fault."""

    @property
    def is_sound(self) -> bool:
        return self.reason is None and not self.removed_segments and not self.damaged


def recover(
    log: LogState,
    first: int,
    recovery_point: int,
    report: RecoveryReport,
    *,
    now_ms: int,
    on_progress: Progress | None,
) -> None:
    """Scan the segments from number `first` on; afterwards the log ends where it is whole.

    The producer states must be those at the base offset of that segment.
    """
    total = sum(segment.size for segment in log.segments[first:])
    log.log_end_offset = log.segments[first].base_offset
    # Epochs from here on count only when a batch carries them: a truncation may have been lost.
    log.leader_epochs.truncate_from_end(log.log_end_offset)
    for number in range(first, len(log.segments)):
        segment = log.segments[number]
        if _does_not_follow(log, number):
            _end_before(log, number, report, now_ms=now_ms)
            break
        size = segment.size
        damage = _recover_segment(log, segment)
        report.scanned_bytes += size
        if on_progress is not None:
            on_progress(report.scanned_bytes, total)
        if damage is not None and _is_below(log, number, recovery_point):
            _settle(log, number, damage, report)
        elif damage is not None:
            _end_at_damage(log, number, damage, report, now_ms=now_ms)
            break
        if segment is not log.segments.active:
            segment.seal()
    log.log_end_offset = max(log.log_end_offset, log.segments.active.base_offset)
    log.producers.end_offset = log.log_end_offset


def verify(log: LogState) -> list[CorruptBatchError]:
    """Check every batch of every segment; the first fault of each segment that has one.

    Reads the whole log: for tools and tests, off the loop.
    """
    faults: list[CorruptBatchError] = []
    expected_offset = log.segments[0].base_offset
    for segment in log.segments:
        expected_offset = max(expected_offset, segment.base_offset)
        try:
            for view in scan.whole_batches(segment.file, 0, segment.size):
                _check(view, segment, expected_offset)
                expected_offset = view.header.next_offset
        except CorruptBatchError as fault:
            faults.append(fault)
    return faults


def _recover_segment(log: LogState, segment: Segment) -> CorruptBatchError | None:
    segment.restart_indexes()
    segment.restart_transaction_index()
    expected_offset = max(log.log_end_offset, segment.base_offset)
    epochs = log.leader_epochs
    batches = scan.whole_batches(segment.file, 0, segment.size, chunk_bytes=RECOVERY_CHUNK_BYTES)
    try:
        for view in batches:
            header = view.header
            _check(view, segment, expected_offset)
            segment.note(view.position, header)
            if header.partition_leader_epoch > epochs.latest_epoch:
                epochs.assign(header.partition_leader_epoch, header.base_offset)
            if header.producer_id >= 0:
                aborted = replay.track(log.producers, header, view.buffer, view.at)
                if aborted is not None:
                    segment.transaction_index.append(aborted)
            expected_offset = header.next_offset
    except CorruptBatchError as damage:
        return damage
    finally:
        log.log_end_offset = expected_offset
    return None


def _check(view: BatchView, segment: Segment, expected_offset: int) -> None:
    header = view.header
    if header.base_offset < expected_offset:
        message = f"offset {header.base_offset} comes where {expected_offset} or more is due"
    elif not check_crc(view.buffer, view.at, header):
        message = f"the batch at offset {header.base_offset} has a wrong checksum"
    else:
        return
    raise CorruptBatchError(message, path=segment.path, position=view.position)


def _is_below(log: LogState, number: int, recovery_point: int) -> bool:
    following = number + 1
    return following < len(log.segments) and log.segments[following].base_offset <= recovery_point


def _settle(log: LogState, number: int, damage: CorruptBatchError, report: RecoveryReport) -> None:
    """A sealed segment that was flushed whole: only what stands behind its last batch may be cut (I1)."""
    segment, end_offset = log.segments[number], log.segments[number + 1].base_offset
    if log.log_end_offset == end_offset:
        segment.cut(damage.position or 0, end_offset)
        segment.file.flush()
    else:
        report.damaged.append(damage)
        log.log_end_offset = end_offset


def _end_at_damage(
    log: LogState,
    number: int,
    damage: CorruptBatchError,
    report: RecoveryReport,
    *,
    now_ms: int,
) -> None:
    """Cut the log where the damage is, and tell all about it."""
    segment = log.segments[number]
    position = damage.position or 0
    report.path, report.position, report.reason = segment.path, position, damage.message
    report.sound_batches_behind = _sound_batches_behind(segment, position)
    report.truncated_bytes = segment.size - position
    segment.cut(position, log.log_end_offset)
    segment.file.flush()  # I6
    _remove_from(log, number + 1, report, now_ms=now_ms)


def _does_not_follow(log: LogState, number: int) -> bool:
    """Whether segment `number` is no continuation of what was recovered before it.

    It may start too late: a file in between lost what it had. (A cleaner leaves such gaps too, but then a segment
    beside the gap lacks offsets or records inside. The settings cannot tell: a topic may have been compacted
    once.) Or it may start too early: the removal of its name, in a truncation, was lost.
    """
    segment = log.segments[number]
    if number == 0 or segment.base_offset == log.log_end_offset:
        return False
    if segment.base_offset < log.log_end_offset:
        return True
    return not any(was_compacted(beside) for beside in log.segments[number - 1 : number + 1])


def was_compacted(segment: Segment) -> bool:
    """Whether offsets or records are missing inside the segment, by the word of sound batches."""
    expected_offset = segment.base_offset
    try:
        for view in scan.whole_batches(segment.file, 0, segment.size):
            header = view.header
            is_sound = check_crc(view.buffer, view.at, header)
            if not is_sound or header.base_offset < expected_offset:
                return False  # the scan that follows says so
            is_whole = header.record_count == header.last_offset_delta + 1
            if header.base_offset != expected_offset or not is_whole:
                return True
            expected_offset = header.next_offset
    except CorruptBatchError:
        return False  # likewise
    return False


def _end_before(log: LogState, number: int, report: RecoveryReport, *, now_ms: int) -> None:
    segment = log.segments[number]
    report.path, report.position = segment.path, 0
    report.reason = (
        f"it starts at offset {segment.base_offset}, but the log before it ends at"
        f" {log.log_end_offset}"
    )
    _remove_from(log, number, report, now_ms=now_ms)


def _remove_from(log: LogState, number: int, report: RecoveryReport, *, now_ms: int) -> None:
    removed = log.segments[number:]
    report.truncated_bytes += sum(segment.size for segment in removed)
    report.removed_segments = [segment.path for segment in removed]
    log.segments.replace_all(log.segments[:number])
    log.remove_segments(removed, now_ms=now_ms)
    log.disk.flush_directory(log.directory)  # I6


def _sound_batches_behind(segment: Segment, position: int) -> int:
    """How many sound batches follow the bad one at `position`, if its size can be believed."""
    count = 0
    try:
        batches = scan.whole_batches(segment.file, position, segment.size)
        next(batches, None)
        for view in batches:
            if not check_crc(view.buffer, view.at, view.header):
                break
            count += 1
    except CorruptBatchError:
        return count
    return count
