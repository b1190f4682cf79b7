"""The time index of a segment: from a timestamp to an offset at or before the first batch as late.

An entry of 12 bytes says: the largest timestamp among the batches up to here is this, and the batch
that carries it ends at this offset. It is written with each entry of the offset index, and once
more when the segment is sealed or the log is closed, so the last entry holds the segment's maximum.

Invariants
  I1  Timestamps ascend strictly, offsets too: a batch that is not later than all before it adds
      none.
See        docs/formats/indexes.md
"""

from __future__ import annotations

from struct import Struct
from typing import ClassVar, NamedTuple

from quire.errors import CorruptIndexError
from quire.storage.file_names import TIME_INDEX, SegmentPlace
from quire.storage.index_file import IndexFile

ENTRY = Struct(">qi")

NO_TIMESTAMP = -1


class TimestampOffset(NamedTuple):
    """A timestamp and the last offset of the batch that carries it."""

    timestamp: int
    offset: int


class TimeIndex:
    """Sparse (largest timestamp so far -> last offset of its batch) of one segment."""

    kind: ClassVar[str] = TIME_INDEX
    __slots__ = ("_last_timestamp", "base_offset", "entries")

    def __init__(self, place: SegmentPlace, *, new: bool) -> None:
        self.base_offset = place.base_offset
        self.entries = IndexFile(place.disk, place.path(TIME_INDEX), ENTRY, new=new)
        self._last_timestamp = self.last().timestamp

    def append(self, timestamp: int, offset: int) -> None:
        """Add an entry, unless it would not be later than the last one (I1)."""
        if timestamp > self._last_timestamp:
            self.entries.append(ENTRY.pack(timestamp, offset - self.base_offset))
            self._last_timestamp = timestamp
            self.entries.spill_if_large()

    def last(self) -> TimestampOffset:
        count = self.entries.count
        if not count:
            return TimestampOffset(NO_TIMESTAMP, self.base_offset)
        timestamp, relative_offset = self.entries.get(count - 1)
        return TimestampOffset(timestamp, self.base_offset + relative_offset)

    def offset_before(self, timestamp: int) -> int:
        """An offset such that every batch that ends before it is earlier than `timestamp`."""
        number = self.entries.last_at_most(timestamp)
        return self.base_offset if number < 0 else self.base_offset + self.entries.get(number)[1]

    def truncate_to(self, offset: int) -> None:
        """Forget the entries at or above `offset`."""
        relative_offset = offset - self.base_offset - 1
        self.entries.truncate(self.entries.last_at_most(relative_offset, field=1) + 1)
        self._last_timestamp = self.last().timestamp

    def is_full(self, index_bytes: int) -> bool:
        """One place stays free for the entry that is added when the segment is sealed."""
        return self.entries.count >= index_bytes // ENTRY.size - 1

    def restart(self) -> None:
        self.entries.restart()
        self._last_timestamp = NO_TIMESTAMP

    def check(self) -> None:
        """Raise CorruptIndexError when the newest entry does not follow the first one (I1)."""
        count = self.entries.count
        if count < 2:
            return
        first_timestamp, first_offset = self.entries.get(0)
        timestamp, offset = self.entries.get(count - 1)
        if timestamp <= first_timestamp or offset <= first_offset:
            message = f"its last entry ({timestamp}, {offset}) does not follow its first one"
            raise CorruptIndexError(self.entries.path, message)
