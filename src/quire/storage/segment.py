"""One segment of a log: a .log file of whole batches and the indexes that find them.

A segment knows bytes, positions and the offsets of its own batches. It is told what to append and
where to cut; when to roll, flush or remove it is decided above.

Invariants
  I1  The file holds whole batches from byte 0 to `size`, of ascending offsets >= `base_offset`;
      behind `size` there is nothing (or, with preallocation, zeros).
  I2  A batch gets an index entry when more than `index.interval.bytes` were appended since the last
      one: the same entries come out whether the leader, a follower or recovery walks the batches.
Not here   offsets given to batches (storage.append), repair (storage.recovery), removal
           (storage.deletion).
See        docs/formats/segment.md, docs/formats/indexes.md
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.errors import CorruptIndexError
from quire.ports.disk import Bytes, File
from quire.records.batch import PREAMBLE_SIZE, BatchHeader
from quire.storage import scan
from quire.storage.file_names import (
    INDEX_SUFFIXES,
    LOG,
    OFFSET_INDEX,
    SEGMENT_SUFFIXES,
    TIME_INDEX,
    TRANSACTION_INDEX,
    SegmentPlace,
)
from quire.storage.file_slice import FileSlice
from quire.storage.offset_index import OffsetIndex
from quire.storage.settings import LogSettings
from quire.storage.time_index import NO_TIMESTAMP, TimeIndex, TimestampOffset
from quire.storage.transaction_index import TransactionIndex

MAX_RELATIVE_OFFSET = 2**31 - 1


class Segment:
    """One segment. Its file and its indexes are opened when they are first needed."""

    __slots__ = (
        "_bytes_since_index_entry",
        "_file",
        "_first_batch_timestamp",
        "_largest_offset",
        "_largest_timestamp",
        "_offset_index",
        "_time_index",
        "_transaction_index",
        "base_offset",
        "created_ms",
        "index_fault",
        "index_is_full",
        "is_torn",
        "place",
        "settings",
        "size",
    )

    def __init__(self, place: SegmentPlace, settings: LogSettings, *, created_ms: int) -> None:
        self.place = place
        self.base_offset = place.base_offset
        self.settings = settings
        self.created_ms = created_ms
        self.size = 0
        self.index_is_full = False
        self.index_fault: str | None = None
        self.is_torn = False
        self._bytes_since_index_entry = 0
        self._first_batch_timestamp: int | None = None
        self._file: File | None = None
        self._largest_timestamp: int | None = None
        self._largest_offset = place.base_offset
        self._offset_index: OffsetIndex | None = None
        self._time_index: TimeIndex | None = None
        self._transaction_index: TransactionIndex | None = None

    @classmethod
    def create(cls, place: SegmentPlace, settings: LogSettings, *, now_ms: int) -> Segment:
        """A new, empty segment; what may be there under its names is lost.

        On OSError nothing stays under its names: an empty file between two segments would be taken for one.
        """
        segment = cls(place, settings, created_ms=now_ms)
        segment.remove_files()
        try:
            segment._file = place.disk.open(segment.path, create=True)
            if settings.preallocate:
                segment._file.allocate(settings.segment_bytes)
        except OSError:
            segment.close()
            segment.remove_files()
            raise
        segment._start_indexes()
        return segment

    @classmethod
    def existing(cls, place: SegmentPlace, settings: LogSettings) -> Segment:
        """The segment whose .log file is there; nothing is read yet but the file's size."""
        segment = cls(place, settings, created_ms=0)
        stat = place.disk.stat(segment.path)
        segment.size = stat.size
        segment.created_ms = stat.modified_ms
        return segment

    def __repr__(self) -> str:
        return f"Segment({self.path!r}, {self.size} bytes)"

    @property
    def path(self) -> str:
        return self.place.path(LOG)

    @property
    def file(self) -> File:
        if self._file is None:
            self._file = self.place.disk.open(self.path)
        return self._file

    @property
    def offset_index(self) -> OffsetIndex:
        if self._offset_index is None:
            self._open_indexes()
        assert self._offset_index is not None
        return self._offset_index

    @property
    def time_index(self) -> TimeIndex:
        if self._time_index is None:
            self._open_indexes()
        assert self._time_index is not None
        return self._time_index

    @property
    def transaction_index(self) -> TransactionIndex:
        if self._transaction_index is None:
            self._transaction_index = TransactionIndex(self.place)
        return self._transaction_index

    @property
    def largest(self) -> TimestampOffset:
        """The largest timestamp and the last offset of its batch; -1 when no batch carries one."""
        if self._largest_timestamp is None:
            self._largest_timestamp, self._largest_offset = self.time_index.last()
        return TimestampOffset(self._largest_timestamp, self._largest_offset)

    def first_batch_timestamp(self) -> int:
        """The largest timestamp of the first batch: the segment's age counts from it; -1: none."""
        if self._first_batch_timestamp is None:
            for _, header in scan.headers(self.file, 0, self.size):
                self._first_batch_timestamp = header.max_timestamp
                break
            else:
                return NO_TIMESTAMP
        return self._first_batch_timestamp

    def append(
        self, buffers: tuple[Bytes, ...], batches: Sequence[tuple[int, BatchHeader]]
    ) -> None:
        """Write `buffers` behind the last batch; `batches` are (position in the buffers, header).

        On OSError the segment is as it was before, or `is_torn` says that it could not be had.
        """
        start = self.size
        if self._largest_timestamp is None:
            self._set_largest(self.largest)
        largest = self._largest_timestamp, self._largest_offset
        bytes_since_index_entry = self._bytes_since_index_entry
        if not start:
            self._first_batch_timestamp = batches[0][1].max_timestamp
        try:
            self.size = start + (self._file or self.file).write(start, buffers)
            for position, header in batches:
                self.note(start + position, header)
        except OSError:
            self.is_torn = True
            self.file.truncate(start)
            self.size = start
            self.offset_index.truncate_to(batches[0][1].base_offset)
            self.time_index.truncate_to(batches[0][1].base_offset)
            self._set_largest(largest)
            self._bytes_since_index_entry = bytes_since_index_entry
            self._first_batch_timestamp = None
            self.index_is_full = False
            self.is_torn = False
            raise

    def note(self, position: int, header: BatchHeader) -> None:
        """Take account of a batch that stands at `position`: timestamps and index entries (I2)."""
        largest, timestamp = self._largest_timestamp, header.max_timestamp
        if largest is None or timestamp > largest:
            self._largest_timestamp = timestamp
            self._largest_offset = header.last_offset
        if self._bytes_since_index_entry > self.settings.index_interval_bytes:
            self._add_index_entry(position, header.last_offset)
        self._bytes_since_index_entry += header.batch_length + PREAMBLE_SIZE

    def find(self, offset: int) -> tuple[int, BatchHeader] | None:
        """(position, header) of the first batch that ends at or above `offset`, if there is one."""
        position = self.offset_index.position_for(offset)
        return scan.find(self.file, position, self.size, offset)

    def slice(self, position: int, size: int) -> FileSlice:
        return FileSlice(self.file, position, size)

    def cut(self, position: int, offset: int) -> None:
        """Drop the batches from `position` on, the first of which ends at or above `offset`."""
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        self.transaction_index.truncate_to(offset)
        self.file.truncate(position)
        self.size = position
        self.index_is_full = False
        if not position:
            self._first_batch_timestamp = None
        self.resume()

    def resume(self) -> int:
        """Make ready to append: walk over the tail behind the last index entry; the end offset."""
        end_offset = self.base_offset
        last_position = self.offset_index.last_position()
        largest = self.time_index.last()
        for _, header in scan.headers(self.file, last_position, self.size):
            end_offset = header.next_offset
            if header.max_timestamp > largest.timestamp:
                largest = TimestampOffset(header.max_timestamp, header.last_offset)
        self._set_largest(largest)
        self._bytes_since_index_entry = self.size - last_position
        return end_offset

    def seal(self) -> None:
        """Add the final time index entry, and bring every file to its size."""
        largest = self.largest
        self.time_index.append(largest.timestamp, largest.offset)
        self.offset_index.entries.spill()
        self.time_index.entries.spill()
        if self._transaction_index is not None and self._transaction_index.entries.count:
            self._transaction_index.entries.spill()
        if self.file.size() != self.size:
            self.file.truncate(self.size)

    def files_to_flush(self, *, with_indexes: bool) -> list[File]:
        """The files whose `flush` makes the segment durable; what is in memory is written first."""
        files = [self.file]
        if with_indexes:
            files.append(self.offset_index.entries.start_flush())
            files.append(self.time_index.entries.start_flush())
            aborted = self.transaction_index.entries
            was_emptied = not aborted.count and self.place.disk.exists(aborted.path)
            if aborted.count or was_emptied:  # else a crash would bring its entries back
                files.append(aborted.start_flush())
        return files

    def rebuild_indexes(self, fault: str) -> None:
        """Write both indexes anew from the headers of the .log file, durably; remember why."""
        self.index_fault = fault
        self.restart_indexes()
        for position, header in scan.headers(
            self.file, 0, self.size, chunk_bytes=scan.SCAN_CHUNK_BYTES
        ):
            self.note(position, header)
        self.time_index.append(*self.largest)
        for index in (self.offset_index, self.time_index):
            index.entries.start_flush().flush()

    def restart_indexes(self) -> None:
        """Empty the indexes, before the batches are walked again from the first one."""
        for kind in (OFFSET_INDEX, TIME_INDEX):
            self.place.disk.open(self.place.path(kind), create=True).truncate(0)
        self._start_indexes()

    def restart_transaction_index(self) -> None:
        """Forget the aborted transactions, before the batches are replayed from the first one."""
        path = self.place.path(TRANSACTION_INDEX)
        if self.place.disk.exists(path):
            self.place.disk.open(path).truncate(0)
        self._transaction_index = None

    def remove_files(self) -> None:
        """Unlink whatever is under the names of this segment."""
        for kind in SEGMENT_SUFFIXES:
            if self.place.disk.exists(self.place.path(kind)):
                self.place.disk.remove(self.place.path(kind))

    def rename(self, suffix: str) -> None:
        """Give every file of the segment another stage; open files stay good."""
        self.rename_log(suffix)
        self.rename_indexes(suffix)

    def rename_log(self, suffix: str) -> None:
        """The first half of `rename`, for those who must make it durable before the second."""
        old = self.place
        old.disk.rename(old.path(LOG), old._replace(suffix=suffix).path(LOG))

    def rename_indexes(self, suffix: str) -> None:
        """The second half."""
        disk, old = self.place.disk, self.place
        new = old._replace(suffix=suffix)
        for kind in INDEX_SUFFIXES:
            if disk.exists(old.path(kind)):
                disk.rename(old.path(kind), new.path(kind))
        self.place = new
        for index in (self._offset_index, self._time_index, self._transaction_index):
            if index is not None:
                index.entries.path = new.path(index.kind)

    def close(self) -> None:
        for index in (self._offset_index, self._time_index, self._transaction_index):
            if index is not None:
                index.entries.close()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _start_indexes(self) -> None:
        self._offset_index = OffsetIndex(self.place, new=True)
        self._time_index = TimeIndex(self.place, new=True)
        self._largest_timestamp, self._largest_offset = NO_TIMESTAMP, self.base_offset
        self._bytes_since_index_entry = 0
        self._first_batch_timestamp = None
        self.index_is_full = False

    def _open_indexes(self) -> None:
        """Open both indexes; when one is missing or wrong, both are made anew from the log."""
        try:
            self._offset_index = OffsetIndex(self.place, new=False)
            self._offset_index.check(self.size)
            self._time_index = TimeIndex(self.place, new=False)
            self._time_index.check()
        except FileNotFoundError as error:
            self.rebuild_indexes(f"{error.filename}: missing")
        except CorruptIndexError as error:
            self.rebuild_indexes(str(error))

    def _add_index_entry(self, position: int, last_offset: int) -> None:
        index_bytes = self.settings.segment_index_bytes
        offset_index, time_index = self.offset_index, self.time_index
        offset_index.append(last_offset, position)
        time_index.append(*self.largest)
        self._bytes_since_index_entry = 0
        self.index_is_full = offset_index.is_full(index_bytes) or time_index.is_full(index_bytes)

    def _set_largest(self, largest: tuple[int | None, int]) -> None:
        self._largest_timestamp, self._largest_offset = largest
