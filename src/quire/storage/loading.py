"""Loading: from the files of a partition directory to a log that can be appended to.

Invariants
  I1  What a crash left half done is finished or undone before anything is read: `.deleted` and
      `.cleaned` files go, complete `.swap` files take the place of the segments they were made
      from.
  I2  After a clean stop no data is read but the tail of the last segment behind its last index
      entry.
  I3  A log that ends below its log start offset is emptied and starts there.
  I4  Where answers wait for the disk, all that a crash left is flushed before anybody is shown it: the end of a process
      keeps what was written, and the loss of power that may follow takes what was not flushed.
Not here   the check of the batches (storage.recovery), the checkpoints that say what to trust
           (storage.log_dirs).
See        docs/formats/segment.md
"""

from __future__ import annotations

from typing import NamedTuple

from quire.errors import CorruptBatchError, CorruptFileError, CorruptIndexError
from quire.ports.disk import Disk
from quire.storage import replay, scan
from quire.storage.file_names import (
    INDEX_SUFFIXES,
    LEADER_EPOCHS,
    LOG,
    SegmentPlace,
    base_offset_of,
    base_offsets,
)
from quire.storage.leader_epochs import LeaderEpochs
from quire.storage.log_state import LogState
from quire.storage.producer_snapshot import remove_stray_snapshots
from quire.storage.recovery import Progress, RecoveryReport, recover, was_compacted
from quire.storage.replacement import finish_replacements
from quire.storage.segment import Segment
from quire.storage.segments import Segments
from quire.storage.settings import LogSettings
from quire.storage.truncation import truncate_fully_and_start_at


class LastStop(NamedTuple):
    """What the log directory remembers of the time before: its marker and its checkpoints."""

    clean: bool = False
    recovery_point: int = 0
    log_start_offset: int = 0


def load_segments(
    disk: Disk,
    directory: str,
    settings: LogSettings,
    report: RecoveryReport,
    *,
    base_offset: int,
    now_ms: int,
) -> Segments:
    """The segments of `directory`; a new one at `base_offset` when there is none."""
    finish_replacements(disk, directory, settings, report.removed_files)
    names = disk.list(directory)
    starts = base_offsets(names, LOG)
    known = set(starts)
    for name in names:
        for suffix in INDEX_SUFFIXES:
            offset = base_offset_of(name, suffix)
            if offset is not None and offset not in known:
                disk.remove(f"{directory}/{name}")
                report.removed_files.append(f"{directory}/{name}")
    places = [SegmentPlace(disk, directory, start) for start in starts]
    if not places:
        place = SegmentPlace(disk, directory, base_offset)
        segment = Segment.create(place, settings, now_ms=now_ms)
        disk.flush_directory(directory)
        return Segments([segment])
    return Segments([Segment.existing(place, settings) for place in places])


def load_epochs(disk: Disk, directory: str, report: RecoveryReport) -> tuple[LeaderEpochs, bool]:
    """The epoch history, and whether it must be collected from the batches: lost or broken."""
    path = f"{directory}/{LEADER_EPOCHS}"
    if not disk.exists(path):
        return LeaderEpochs(disk, path), True
    try:
        return LeaderEpochs.load(disk, path), False
    except CorruptFileError as error:
        report.rebuilt.append(str(error))
        return LeaderEpochs(disk, path), True


def bring_up(
    log: LogState,
    last_stop: LastStop,
    report: RecoveryReport,
    *,
    epochs_are_lost: bool,
    now_ms: int,
    on_progress: Progress | None,
) -> None:
    """Find the ends of the log, repairing what must be."""
    if epochs_are_lost:
        _collect_epochs(log)
    elif not last_stop.clean:
        _drop_stale_head(log, report, now_ms=now_ms)
    if not last_stop.clean:
        _drop_below(log, last_stop.log_start_offset, report, now_ms=now_ms)
    first = _first_to_recover(log, last_stop, report)
    if first is None:
        _restore_producers(log, log.log_end_offset, report, now_ms=now_ms)
    else:
        _restore_producers(log, log.segments[first].base_offset, report, now_ms=now_ms)
        point = last_stop.recovery_point if not last_stop.clean else 0
        recover(log, first, point, report, now_ms=now_ms, on_progress=on_progress)
    log.log_start_offset = max(last_stop.log_start_offset, log.segments[0].base_offset)
    if log.log_end_offset < log.log_start_offset:
        report.removed_segments.extend(segment.path for segment in log.segments)
        report.reason = report.reason or "the log ends below its log start offset"
        truncate_fully_and_start_at(log, log.log_start_offset, now_ms=now_ms)
    # A leader's entry may stand at the log end before its first batch; after a crash it is not kept.
    epochs_end = log.log_end_offset + 1 if first is None else log.log_end_offset
    log.leader_epochs.truncate_from_end(epochs_end)
    log.leader_epochs.truncate_from_start(log.log_start_offset)
    log.high_watermark = log.log_start_offset
    trusted = log.log_end_offset if last_stop.clean else last_stop.recovery_point
    log.recovery_point = max(min(trusted, log.log_end_offset), log.log_start_offset)
    log.last_flush_ms = now_ms
    if log.settings.fsync_before_ack and not last_stop.clean:
        _flush_what_is_left(log)  # I4
    log.check()


def _flush_what_is_left(log: LogState) -> None:
    """Only the bytes and their names: that needs no room, and a full disk must not keep a node from starting."""
    for segment in log.segments[log.segments.index_for(log.recovery_point - 1) :]:
        for file in segment.files_to_flush(with_indexes=False):
            file.flush()
    log.disk.flush_directory(log.directory)


def _drop_stale_head(log: LogState, report: RecoveryReport, *, now_ms: int) -> None:
    """Remove again the segments that retention had removed and a crash brought back, if not all came back.

    They lie below the first epoch (retention I4) and before a gap that no cleaner made.
    """
    epochs = log.leader_epochs.entries
    if not epochs:
        return
    for number in range(len(log.segments) - 1, 0, -1):
        if log.segments[number].base_offset > epochs[0].start_offset:
            continue
        beside = log.segments[number - 1 : number + 1]
        if _ends_at(beside[0], beside[1].base_offset) or any(map(was_compacted, beside)):
            continue
        _drop_head(log, number, report, now_ms=now_ms)
        return


def _drop_below(
    log: LogState, log_start_offset: int, report: RecoveryReport, *, now_ms: int
) -> None:
    """Remove the segments that are served no more; they may not even have been flushed."""
    number = log.segments.index_for(log_start_offset)
    if number:
        _drop_head(log, number, report, now_ms=now_ms)


def _drop_head(log: LogState, number: int, report: RecoveryReport, *, now_ms: int) -> None:
    stale = log.segments[:number]
    report.removed_files.extend(segment.path for segment in stale)
    log.segments.replace_all(log.segments[number:])
    log.log_start_offset = log.segments[0].base_offset
    log.remove_segments(stale, now_ms=now_ms)


def _ends_at(segment: Segment, offset: int) -> bool:
    try:
        return segment.resume() == offset
    except CorruptBatchError:
        return False


def _restore_producers(
    log: LogState, end_offset: int, report: RecoveryReport, *, now_ms: int
) -> None:
    starts = [segment.base_offset for segment in log.segments]
    remove_stray_snapshots(log.disk, log.directory, starts)
    report.rebuilt += replay.restore_producers(log, end_offset=end_offset, now_ms=now_ms)


def _first_to_recover(log: LogState, last_stop: LastStop, report: RecoveryReport) -> int | None:
    """The number of the first segment that must be scanned; None when the log is known to be whole.

    Sets the log end offset in that case.
    """
    # The segment before a recovery point that is a segment's start may have been sealed after its flush.
    doubtful = None if last_stop.clean else log.segments.index_for(last_stop.recovery_point - 1)
    for number, segment in enumerate(log.segments[:doubtful]):
        try:
            segment.transaction_index.check()
        except CorruptIndexError as error:
            report.rebuilt.append(str(error))
            return number
    if doubtful is not None:
        return doubtful
    try:
        log.log_end_offset = log.segments.active.resume()
    except CorruptBatchError as error:
        report.rebuilt.append(f"stopped cleanly, yet: {error}")
        return len(log.segments) - 1
    return None


def _collect_epochs(log: LogState) -> None:
    """Read the epochs from the headers of all batches, up to the first that is broken."""
    epochs = log.leader_epochs
    for segment in log.segments:
        try:
            for _, header in scan.headers(
                segment.file, 0, segment.size, chunk_bytes=scan.SCAN_CHUNK_BYTES
            ):
                if header.partition_leader_epoch > epochs.latest_epoch:
                    epochs.assign(header.partition_leader_epoch, header.base_offset)
        except CorruptBatchError:
            return  # whether it counts is for recovery to say
