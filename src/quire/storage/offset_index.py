"""The offset index of a segment: from an offset to a byte position at or before its batch.

Every 4096 bytes of log (`index.interval.bytes`) one batch gets an entry of 8 bytes: its *last*
offset relative to the segment's base, and the position where it starts.

Invariants
  I1  Both fields ascend strictly; the first batch of a segment has no entry, so both are > 0.
  I2  Every batch that starts before an entry's position ends below the entry's offset.
See        docs/formats/indexes.md
"""

from __future__ import annotations

from struct import Struct
from typing import ClassVar

from quire.errors import CorruptIndexError
from quire.storage.file_names import OFFSET_INDEX, SegmentPlace
from quire.storage.index_file import IndexFile

ENTRY = Struct(">ii")


class OffsetIndex:
    """Sparse (last offset of a batch -> position of the batch) of one segment."""

    kind: ClassVar[str] = OFFSET_INDEX
    __slots__ = ("base_offset", "entries")

    def __init__(self, place: SegmentPlace, *, new: bool) -> None:
        self.base_offset = place.base_offset
        self.entries = IndexFile(place.disk, place.path(OFFSET_INDEX), ENTRY, new=new)

    def append(self, last_offset: int, position: int) -> None:
        self.entries.append(ENTRY.pack(last_offset - self.base_offset, position))
        self.entries.spill_if_large()

    def position_for(self, offset: int) -> int:
        """Where to start looking for the batch that holds `offset`: never behind its start."""
        number = self.entries.last_at_most(offset - self.base_offset)
        return 0 if number < 0 else self.entries.get(number)[1]

    def end_before(self, position: int) -> int | None:
        """An offset behind every batch that starts before `position`; None when no entry lies behind it."""
        number = self.entries.last_at_most(position - 1, field=1) + 1
        if number >= self.entries.count:
            return None
        return self.base_offset + self.entries.get(number)[0] + 1

    def last_position(self) -> int:
        """Where the newest indexed batch starts; 0 for an empty index."""
        count = self.entries.count
        return self.entries.get(count - 1)[1] if count else 0

    def truncate_to(self, offset: int) -> None:
        """Forget the batches that end at or above `offset`."""
        self.entries.truncate(self.entries.last_at_most(offset - self.base_offset - 1) + 1)

    def is_full(self, index_bytes: int) -> bool:
        return self.entries.count >= index_bytes // ENTRY.size

    def check(self, log_bytes: int) -> None:
        """Raise CorruptIndexError when the newest entry cannot be true; I1 holds for a good one.

        A tail of zeros (a preallocated file that was never trimmed) shows itself here too.
        """
        count = self.entries.count
        if not count:
            return
        relative_offset, position = self.entries.get(count - 1)
        if relative_offset <= 0 or not 0 < position < log_bytes:
            message = f"its last entry ({relative_offset}, {position}) points outside its segment"
            raise CorruptIndexError(self.entries.path, message)
