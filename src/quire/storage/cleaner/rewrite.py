"""One cleaning, from segments to cleaned files: build the offset map of the dirty tail, then rewrite group by group.

Reads segments that never change any more and writes files with the suffix `.cleaned`; touches nothing else, so it may
run in another process. It is a generator: after each group it waits until the owner has taken the group over.

Invariants
  I1  A record is dropped only because of a later record of its key below the map's end, an expired tombstone, an
      abort, or the lack of a key (which a compacted log refuses at the door).
  I2  The last batch of an active producer stays, if only as a header: its sequence and epoch are in it.
  I3  The last batch of each group stays, if only as a header: no offset is ever given twice, and a
      recovery can tell a gap that was cleaned from a file that was lost. Batches that start above the
      range share a segment with it at most, and are copied as they are.
  I4  Memory: the map, one read buffer and one write buffer, each as large as one batch at the least.
  I5  A group is yielded only after everything written for it was flushed.
  I6  A transaction counts only by a marker inside the range, all of which is flushed: an abort or a commit
      that a crash could take must not have moved anything.
Not here   renaming files into place (storage.replacement), choosing what to clean (schedule), throttle (`pace`).
See        docs/decisions/0007-cleaning-is-a-job.md, KIP-534 (delete horizon).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from quire.errors import CorruptBatchError
from quire.ports.disk import Disk
from quire.records.batch import NO_PRODUCER_ID, BatchHeader, check_crc, decode_batch, read_header
from quire.records.compaction import FilterRules, OffsetMap, filter_batch
from quire.records.control import ControlType, read_control_type
from quire.storage import scan
from quire.storage.cleaner.job import CleanedGroup, CleaningDone, CleaningJob
from quire.storage.cleaner.plan import SegmentFacts, groups
from quire.storage.cleaner.transactions import CleanedTransactions
from quire.storage.file_names import CLEANED, LOG, SegmentPlace, file_path
from quire.storage.segment import Segment
from quire.storage.transaction_index import AbortedTransaction

Pace = Callable[[int], None]
"""Told of bytes read and written; may block to keep a limit, or raise to stop the cleaning."""


@dataclass(slots=True)
class Tally:
    """What a cleaning has done so far."""

    bytes_read: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    records_before: int = 0
    records_after: int = 0
    keyless_records: int = 0


def clean(job: CleaningJob, disk: Disk, pace: Pace) -> Iterator[CleanedGroup | CleaningDone]:
    """Carry out `job`; the last thing yielded is a CleaningDone, unless the generator is closed before."""
    _remove_leftovers(job, disk)
    tally = Tally()
    job = replace(job, end_offset=_decided_end(job, disk))
    offset_map = OffsetMap(job.map_bytes, job.hash_key)
    offset_map.skip_to(job.first_dirty_offset)
    _fill(offset_map, job, disk, pace, tally)
    clean_until = min(offset_map.end_offset, job.end_offset)
    segments = [s for s in job.segments if s.base_offset < clean_until]
    rewriting = _Rewriting(job, disk, pace, offset_map, clean_until, tally)
    for group in groups(segments, job.settings):
        yield rewriting.write_group(group)
    yield CleaningDone(
        clean_until_offset=clean_until,
        bytes_read=tally.bytes_read,
        bytes_before=tally.bytes_before,
        bytes_after=tally.bytes_after,
        records_before=tally.records_before,
        records_after=tally.records_after,
        keyless_records=tally.keyless_records,
        map_utilization=offset_map.fullness,
    )


def _remove_leftovers(job: CleaningJob, disk: Disk) -> None:
    """Take away, durably, what a cleaning that was given up has left.

    A start that finds a `.cleaned` file undoes every replacement above it that has not got its final names (see
    storage.replacement): it must not find an old one beside a new replacement.
    """
    leftovers = [name for name in disk.list(job.directory) if name.endswith(CLEANED)]
    for name in leftovers:
        disk.remove(f"{job.directory}/{name}")
    if leftovers:
        disk.flush_directory(job.directory)


def _decided_end(job: CleaningJob, disk: Disk) -> int:
    """The end of the dirty range, before any transaction that its markers do not decide (I6)."""
    undecided: dict[int, int] = {}
    for segment in job.segments:
        if segment.end_offset <= job.first_dirty_offset:
            continue
        file = disk.open(_path(job, segment), writable=False)
        try:
            for _, header in scan.headers(file, 0, segment.size):
                if header.base_offset >= job.end_offset:
                    break
                if header.is_control:
                    undecided.pop(header.producer_id, None)
                elif header.is_transactional:
                    undecided.setdefault(header.producer_id, header.base_offset)
        finally:
            file.close()
    return max(min([job.end_offset, *undecided.values()]), job.first_dirty_offset)


def _path(job: CleaningJob, segment: SegmentFacts) -> str:
    return file_path(job.directory, segment.base_offset, LOG)


def _batches(
    disk: Disk, job: CleaningJob, segment: SegmentFacts, pace: Pace, tally: Tally
) -> Iterator[scan.BatchView]:
    """The batches of one segment, each with a right checksum and with offsets in its place."""
    file = disk.open(
        SegmentPlace(disk, job.directory, segment.base_offset).path(LOG), writable=False
    )
    expected_offset = segment.base_offset
    try:
        for view in scan.whole_batches(file, 0, segment.size, chunk_bytes=job.buffer_bytes):
            header = view.header
            if not expected_offset <= header.base_offset <= header.last_offset < segment.end_offset:
                # The base offset is outside the checksum: a broken one would send the batch anywhere.
                message = f"offsets {header.base_offset} to {header.last_offset} cannot be here"
                raise CorruptBatchError(message, path=file.path, position=view.position)
            if not check_crc(view.buffer, view.at, header):
                message = "the batch's checksum does not match its bytes"
                raise CorruptBatchError(message, path=file.path, position=view.position)
            expected_offset = header.next_offset
            pace(header.size)
            tally.bytes_read += header.size
            yield view
    finally:
        file.close()


def _marker_of(view: scan.BatchView) -> ControlType | None:
    """What a control batch says; None when it does not end a transaction."""
    if not view.header.record_count:
        return None
    kind = read_control_type(decode_batch(view.buffer, view.at)[0])
    return kind if kind in (ControlType.ABORT, ControlType.COMMIT) else None


def _fill(offset_map: OffsetMap, job: CleaningJob, disk: Disk, pace: Pace, tally: Tally) -> None:
    """Put the dirty tail into the map, in offset order, until its end or until the map is full."""
    transactions = CleanedTransactions()
    transactions.add_aborted(job.aborted)
    for segment in job.segments:
        if segment.end_offset <= job.first_dirty_offset:
            continue
        for view in _batches(disk, job, segment, pace, tally):
            header = view.header
            if header.base_offset >= job.end_offset:
                return
            if header.is_control:
                kind = _marker_of(view)
                if kind is not None:
                    transactions.on_marker(header, kind)
            elif not transactions.is_aborted_data(header) and header.record_count:
                if _put(offset_map, view, job) >= 0:
                    return
                continue
            offset_map.skip_to(header.next_offset)


def _put(offset_map: OffsetMap, view: scan.BatchView, job: CleaningJob) -> int:
    return offset_map.put_batch(
        view.buffer, view.at, view.header, from_offset=job.first_dirty_offset
    )


class _Rewriting:
    """The second half of a cleaning: what it remembers from one group to the next."""

    def __init__(
        self,
        job: CleaningJob,
        disk: Disk,
        pace: Pace,
        offset_map: OffsetMap,
        clean_until: int,
        tally: Tally,
    ) -> None:
        self.job = job
        self.disk = disk
        self.pace = pace
        self.offset_map = offset_map
        self.clean_until = clean_until
        self.tally = tally
        self.transactions = CleanedTransactions()
        self.transactions.add_aborted(job.aborted)

    def write_group(self, group: Sequence[SegmentFacts]) -> CleanedGroup:
        """Write one segment out of a group of them."""
        place = SegmentPlace(self.disk, self.job.directory, group[0].base_offset, CLEANED)
        target = _Target(place, self.job)
        try:
            for segment in group:
                self._copy(segment, target, group[-1].end_offset)
            size = target.finish()
        finally:
            target.segment.close()
        self.disk.flush_directory(self.job.directory)
        before = sum(segment.size for segment in group)
        self.tally.bytes_before += before
        self.tally.bytes_after += size
        return CleanedGroup(tuple(segment.base_offset for segment in group), before, size)

    def _copy(self, segment: SegmentFacts, target: _Target, end: int) -> None:
        for view in _batches(self.disk, self.job, segment, self.pace, self.tally):
            rules, ended = self._rules(view, end)
            kept = filter_batch(
                view.buffer, view.at, view.header, offset_map=self.offset_map, rules=rules
            )
            self.tally.records_before += kept.records_read
            self.tally.records_after += kept.records_kept
            self.tally.keyless_records += kept.keyless
            if ended is not None:
                target.segment.transaction_index.append(ended)
            if kept.batch is not None:
                self.pace(len(kept.batch))
                target.add(kept.batch)

    def _rules(
        self, view: scan.BatchView, end: int
    ) -> tuple[FilterRules, AbortedTransaction | None]:
        """What is to be done with one batch, and the aborted transaction that ends in it."""
        header, now_ms = view.header, self.job.now_ms
        rules = FilterRules(
            now_ms=now_ms,
            new_delete_horizon_ms=now_ms + self.job.settings.delete_retention_ms,
            keep_empty=self._is_last_of_producer(header) or header.next_offset == end,
        )
        untouched = header.base_offset >= self.clean_until
        if not header.is_control:
            aborted = self.transactions.is_aborted_data(header)
            return rules._replace(
                discard_records=aborted and not untouched, keep_records=untouched
            ), None
        kind = _marker_of(view)
        if kind is None:
            return rules._replace(keep_records=True), None
        empty, ended = self.transactions.on_marker(header, kind)
        if untouched:
            return rules._replace(keep_records=True), ended
        horizon = header.delete_horizon_ms
        expired = empty and horizon is not None and horizon <= now_ms
        rules = rules._replace(
            discard_records=expired, keep_records=not expired, start_delete_horizon=empty
        )
        return rules, ended

    def _is_last_of_producer(self, header: BatchHeader) -> bool:
        """Whether a batch holds the newest that is known of an active producer (I2)."""
        if header.producer_id == NO_PRODUCER_ID:
            return False
        last = self.job.last_of_producers.get(header.producer_id)
        if last is None:
            return False
        if last.last_data_offset is not None:
            return header.last_offset == last.last_data_offset
        return header.is_control and header.producer_epoch == last.producer_epoch


class _Target:
    """The cleaned segment that is being written, through one buffer."""

    def __init__(self, place: SegmentPlace, job: CleaningJob) -> None:
        self.segment = Segment.create(place, job.settings, now_ms=job.now_ms)
        self._buffer_bytes = job.buffer_bytes
        self._buffer = bytearray()
        self._batches: list[tuple[int, BatchHeader]] = []

    def add(self, batch: bytes | bytearray | memoryview) -> None:
        self._batches.append((len(self._buffer), read_header(batch)))
        self._buffer += batch
        if len(self._buffer) >= self._buffer_bytes:
            self._write()

    def finish(self) -> int:
        """Write the rest, make all of it durable; the size of the segment."""
        if self._batches:
            self._write()
        self.segment.seal()
        for file in self.segment.files_to_flush(with_indexes=True):
            file.flush()
        return self.segment.size

    def _write(self) -> None:
        self.segment.append((self._buffer,), self._batches)
        self._buffer = bytearray()
        self._batches = []
