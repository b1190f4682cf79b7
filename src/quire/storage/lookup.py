"""Finding things in a log: bytes from an offset, an offset from a timestamp, what was aborted.

A read never loads the records: it answers with a slice of a file, whose end is bounded by an offset
(the high watermark, the last stable offset or the log end, as the caller decides) and by a size.

Invariants
  I1  A slice starts at the batch that holds the offset asked for (or the next one, where compaction
      left a gap), and no byte of it belongs to a batch at or above the upper bound.
  I2  The first batch is whole when `min_one` is set, however large; other batches may be cut at the
      end.
  I3  A broken batch met on the way is an error that names file and position, never an empty answer.
Not here   who may see how far (the replication rooms), waiting for more (the broker).
See        facts of KIP-79 (offsets by time), KIP-98 (aborted transactions)
"""

from __future__ import annotations

from typing import NamedTuple

from quire.errors import CorruptBatchError
from quire.records.batch import BatchHeader, Record, decode_records
from quire.storage import scan
from quire.storage.file_slice import FileSlice
from quire.storage.log_state import LogState
from quire.storage.segment import Segment
from quire.storage.time_index import NO_TIMESTAMP
from quire.storage.transaction_index import AbortedTransaction


class ReadResult(NamedTuple):
    """What a read found. An empty slice: nothing below the bound, or it did not fit."""

    records: FileSlice
    log_start_offset: int
    log_end_offset: int


class OutOfRange(NamedTuple):
    """The offset asked for is not between the two ends."""

    offset: int
    log_start_offset: int
    log_end_offset: int


class TimestampedOffset(NamedTuple):
    """A record found by its timestamp."""

    offset: int
    timestamp: int
    leader_epoch: int


def read(
    log: LogState, offset: int, *, max_bytes: int, upper_bound_offset: int, min_one: bool
) -> ReadResult | OutOfRange:
    log.fail_if_offline()
    if not log.log_start_offset <= offset <= log.log_end_offset:
        return OutOfRange(offset, log.log_start_offset, log.log_end_offset)
    bound = min(upper_bound_offset, log.log_end_offset)
    found = _find(log, offset) if offset < bound else None
    if found is None:
        active = log.segments.active
        records = active.slice(active.size, 0)
    else:
        number, position, header = found
        segment = log.segments[number]
        if bound >= log.segments.end_offset(number, log.log_end_offset):
            available = segment.size - position
        else:
            available = _position_of(segment, bound) - position
        size = min(max_bytes, available)
        if size < header.size:
            size = header.size if min_one and header.size <= available else 0
        records = segment.slice(position, size)
    return ReadResult(records, log.log_start_offset, log.log_end_offset)


def bytes_between(log: LogState, from_offset: int, to_offset: int) -> int:
    """The bytes of the batches between two offsets: how much a waiting fetch would get."""
    first = log.segments.index_for(from_offset)
    last = log.segments.index_for(to_offset)
    start = _position_of(log.segments[first], from_offset)
    end = _position_of(log.segments[last], to_offset)
    return sum(segment.size for segment in log.segments[first:last]) + end - start


def offset_for_timestamp(log: LogState, timestamp: int) -> TimestampedOffset | None:
    """The first record that is at least as late as `timestamp`; None when all are earlier."""
    log.fail_if_offline()
    first = log.segments.index_for(log.log_start_offset)
    for segment in log.segments[first:]:
        if segment.largest.timestamp < timestamp:
            continue
        found = _first_as_late(log, segment, timestamp)
        if found is not None:
            return found
    return None


def offset_of_max_timestamp(log: LogState) -> TimestampedOffset | None:
    """The first record with the largest timestamp; None when no record carries one."""
    largest = max(segment.largest.timestamp for segment in log.segments)
    return None if largest == NO_TIMESTAMP else offset_for_timestamp(log, largest)


def aborted_transactions(
    log: LogState, fetch_offset: int, upper_bound_offset: int, records: FileSlice | None = None
) -> list[AbortedTransaction]:
    """The aborted transactions that a reader of [fetch_offset, upper_bound_offset) must know of.

    With `records`, what was read from `fetch_offset` on, the bound is drawn in to about where they end.
    """
    first = log.segments.index_for(fetch_offset)
    if records is not None:
        upper_bound_offset = min(upper_bound_offset, _end_of(log, first, records))
    found: list[AbortedTransaction] = []
    for segment in log.segments[first:]:
        for aborted in segment.transaction_index.from_offset(fetch_offset):
            if aborted.first_offset < upper_bound_offset:
                found.append(aborted)
            if aborted.last_stable_offset >= upper_bound_offset:
                return found
    return found


def _end_of(log: LogState, first: int, records: FileSlice) -> int:
    """An offset behind all that the slice holds, of a segment not before `first`: as near as the index knows."""
    for number in range(first, len(log.segments)):
        segment = log.segments[number]
        if segment.file is records.file:
            known = segment.offset_index.end_before(records.position + records.size)
            if known is not None:
                return known
            return log.segments.end_offset(number, log.log_end_offset)
    return log.log_end_offset


def _find(log: LogState, offset: int) -> tuple[int, int, BatchHeader] | None:
    """(number of segment, position, header) of the first batch that ends at or above `offset`."""
    for number in range(log.segments.index_for(offset), len(log.segments)):
        found = log.segments[number].find(offset)
        if found is not None:
            return number, *found
    return None


def _position_of(segment: Segment, offset: int) -> int:
    found = segment.find(offset)
    return segment.size if found is None else found[0]


def _first_as_late(log: LogState, segment: Segment, timestamp: int) -> TimestampedOffset | None:
    start = max(segment.time_index.offset_before(timestamp), log.log_start_offset)
    position = segment.offset_index.position_for(start)
    for at, header in scan.headers(segment.file, position, segment.size):
        if header.max_timestamp < timestamp or header.last_offset < log.log_start_offset:
            continue
        for record in _records_of(segment, at, header):
            if record[1] >= timestamp and record[0] >= log.log_start_offset:
                return TimestampedOffset(record[0], record[1], header.partition_leader_epoch)
    return None


def _records_of(segment: Segment, position: int, header: BatchHeader) -> list[Record]:
    try:
        return decode_records(segment.file.read(position, header.size), 0, header)
    except CorruptBatchError as error:
        raise CorruptBatchError(error.message, path=segment.path, position=position) from error
