"""The transaction index of a segment: the aborted transactions whose ABORT marker it holds.

There is a file only once there is something to say. An entry of 34 bytes names the producer, the
span of the transaction, and the last stable offset at that time, which tells a reader when to stop
looking.

Invariants
  I1  Entries stand in the order of their markers: `last_offset` ascends.
See        docs/formats/indexes.md, KIP-98
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import ClassVar, NamedTuple

from quire.errors import CorruptIndexError
from quire.storage.file_names import TRANSACTION_INDEX, SegmentPlace
from quire.storage.index_file import IndexFile

ENTRY = Struct(">hqqqq")

_VERSION = 0
_LAST_OFFSET_FIELD = 3


class AbortedTransaction(NamedTuple):
    """One aborted transaction; `last_offset` is the offset of its ABORT marker."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TransactionIndex:
    """The aborted transactions that ended in one segment."""

    kind: ClassVar[str] = TRANSACTION_INDEX
    __slots__ = ("base_offset", "entries")

    def __init__(self, place: SegmentPlace) -> None:
        self.base_offset = place.base_offset
        new = not place.disk.exists(place.path(TRANSACTION_INDEX))
        self.entries = IndexFile(place.disk, place.path(TRANSACTION_INDEX), ENTRY, new=new)

    def append(self, aborted: AbortedTransaction) -> None:
        """Add one, in memory until the next flush: its batch is in the log, so this must not fail."""
        self.entries.append(ENTRY.pack(_VERSION, *aborted))

    def __iter__(self) -> Iterator[AbortedTransaction]:
        for number in range(self.entries.count):
            yield self._read(number)

    def from_offset(self, offset: int) -> Iterator[AbortedTransaction]:
        """The transactions whose marker is at or above `offset`."""
        first = self.entries.last_at_most(offset - 1, field=_LAST_OFFSET_FIELD) + 1
        for number in range(first, self.entries.count):
            yield self._read(number)

    def truncate_to(self, offset: int) -> None:
        """Forget the transactions whose marker is at or above `offset`."""
        self.entries.truncate(self.entries.last_at_most(offset - 1, field=_LAST_OFFSET_FIELD) + 1)

    def check(self) -> None:
        """Raise CorruptIndexError when an entry's marker cannot be in this segment."""
        for aborted in self:
            if aborted.last_offset < self.base_offset:
                message = f"a transaction ends at {aborted.last_offset}, before the segment starts"
                raise CorruptIndexError(self.entries.path, message)

    def _read(self, number: int) -> AbortedTransaction:
        version, *fields = self.entries.get(number)
        if version != _VERSION:
            raise CorruptIndexError(self.entries.path, f"entry {number} has version {version}")
        return AbortedTransaction(*fields)
