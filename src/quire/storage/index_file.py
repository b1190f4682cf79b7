"""A growing file of fixed-size entries, ascending in every field that is searched.

The newest entries live in memory and are spilled to the file by 4 KiB; the rest is searched through
a map of the file. So an append costs no system call, and a big index costs no memory.

Invariants
  I1  The file holds exactly the entries that were spilled, nothing behind them: it is never
      preallocated, so a sealed index needs no trimming.
  I2  No map is held while the file is cut or closed.
  I3  After `flush` every entry is durable; before it any of them may be lost by a crash, which is
      allowed because recovery rebuilds the indexes of every segment from the recovery point on.
Not here   what the entries mean: storage.offset_index, storage.time_index,
           storage.transaction_index.
See        docs/decisions/0004-active-index-in-memory.md, docs/formats/indexes.md
"""

from __future__ import annotations

from struct import Struct

from quire.errors import CorruptIndexError
from quire.ports.disk import Disk, File

SPILL_BYTES = 4096


class IndexFile:
    """The entries of one index file, read lazily."""

    __slots__ = ("_disk", "_file", "_spilled_bytes", "_tail", "_view", "count", "entry", "path")

    def __init__(self, disk: Disk, path: str, entry: Struct, *, new: bool) -> None:
        self._disk = disk
        self.path = path
        self.entry = entry
        self._file: File | None = None
        self._spilled_bytes = 0
        self._tail = bytearray()
        self._view: memoryview | None = None
        if not new:
            self._spilled_bytes = self._size_on_disk()
        self.count = self._spilled_bytes // entry.size

    def append(self, entry: bytes) -> None:
        """Add a packed entry, in memory."""
        self._tail += entry
        self.count += 1

    def spill_if_large(self) -> None:
        """Keep no more than 4 KiB in memory."""
        if len(self._tail) >= SPILL_BYTES:
            self.spill()

    def get(self, number: int) -> tuple[int, ...]:
        """The fields of entry `number`, counted from 0."""
        position = number * self.entry.size
        if position >= self._spilled_bytes:
            return self.entry.unpack_from(self._tail, position - self._spilled_bytes)
        return self.entry.unpack_from(self._mapped(), position)

    def last_at_most(self, key: int, *, field: int = 0) -> int:
        """The number of the last entry whose `field` is <= `key`; -1 when there is none."""
        entry, tail = self.entry, self._tail
        spilled_count = self._spilled_bytes // entry.size
        if tail and entry.unpack_from(tail, 0)[field] <= key:
            return spilled_count + _last_at_most(tail, len(tail) // entry.size, entry, key, field)
        if spilled_count == 0:
            return -1
        return _last_at_most(self._mapped(), spilled_count, entry, key, field)

    def truncate(self, count: int) -> None:
        """Keep the first `count` entries."""
        keep = count * self.entry.size
        self.count = min(self.count, count)
        if keep >= self._spilled_bytes:
            del self._tail[keep - self._spilled_bytes :]
            return
        self._release_view()
        self._tail.clear()
        self._open().truncate(keep)
        self._spilled_bytes = keep

    def spill(self) -> None:
        """Move what is in memory to the file, which exists afterwards."""
        file = self._open()
        tail = self._tail
        if tail:
            try:
                file.write(self._spilled_bytes, (tail,))
            except OSError:
                file.truncate(self._spilled_bytes)  # a part of it may be there (I1)
                raise
            self._spilled_bytes += len(tail)
            self._tail = bytearray()

    def start_flush(self) -> File:
        """Spill, and give the file whose `flush` makes all of it durable."""
        self.spill()
        return self._open()

    def close(self) -> None:
        self._release_view()
        if self._file is not None:
            self._file.close()
            self._file = None

    def restart(self) -> None:
        """Forget every entry; the file, when there is one, becomes empty."""
        self._release_view()
        self._tail.clear()
        self._spilled_bytes = self.count = 0
        if self._file is not None or self._disk.exists(self.path):
            self._open().truncate(0)

    def _size_on_disk(self) -> int:
        size = self._disk.stat(self.path).size
        if size % self.entry.size:
            message = f"{size} bytes are no multiple of the {self.entry.size} bytes of an entry"
            raise CorruptIndexError(self.path, message)
        return size

    def _open(self) -> File:
        if self._file is None:
            self._file = self._disk.open(self.path, create=True)
        return self._file

    def _mapped(self) -> memoryview:
        view = self._view
        if view is None or len(view) < self._spilled_bytes:
            self._release_view()
            view = self._view = self._open().map(self._spilled_bytes)
        return view

    def _release_view(self) -> None:
        if self._view is not None:
            self._view.release()
            self._view = None


def _last_at_most(
    buffer: bytearray | memoryview, count: int, entry: Struct, key: int, field: int
) -> int:
    unpack, size = entry.unpack_from, entry.size
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if unpack(buffer, middle * size)[field] <= key:
            low = middle + 1
        else:
            high = middle
    return low - 1
