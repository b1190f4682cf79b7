"""Files that are gone for the log but not yet for the disk: renamed now, unlinked later by a
helper.

Unlinking a big file blocks for a tenth of a second, and a reader may still be sending from it. So a
removal is two steps: the rename happens at once, the unlink after `file.delete.delay.ms`.

Invariants
  I1  A file is handed out for unlinking once, and only under its `.deleted` name.
  I2  The indexes go after the log, durably: a crash that brought a log back without its transaction index
      would show what was aborted.
Not here   what may be removed: storage.retention, storage.truncation, the cleaner.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from quire.ports.disk import Disk
from quire.storage.file_names import DELETED, SEGMENT_SUFFIXES
from quire.storage.segment import Segment


class Deletion(NamedTuple):
    """Files to unlink. `run` blocks, so a helper thread calls it; it may be called again."""

    disk: Disk
    paths: tuple[str, ...]
    segment: Segment | None
    """Held so that the last reference to the open file, too, goes away on the helper's thread."""

    def run(self) -> None:
        for path in self.paths:
            if self.disk.exists(path):
                self.disk.remove(path)


class Deletions:
    """The removals of one log that wait for their time."""

    __slots__ = ("_disk", "_waiting")

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._waiting: deque[tuple[int, Deletion]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add_segments(
        self, directory: str, segments: Sequence[Segment], *, not_before_ms: int
    ) -> None:
        """Rename the files of `segments` now; they are due at `not_before_ms`. Flushes the directory."""
        for segment in segments:
            segment.rename_log(segment.place.suffix + DELETED)
        self._disk.flush_directory(directory)  # I2
        for segment in segments:
            segment.rename_indexes(segment.place.suffix + DELETED)
            paths = tuple(segment.place.path(kind) for kind in SEGMENT_SUFFIXES)
            self._waiting.append((not_before_ms, Deletion(self._disk, paths, segment)))

    def due(self, now_ms: int) -> list[Deletion]:
        """Take what may be unlinked now, oldest first."""
        taken: list[Deletion] = []
        while self._waiting and self._waiting[0][0] <= now_ms:
            taken.append(self._waiting.popleft()[1])
        return taken
