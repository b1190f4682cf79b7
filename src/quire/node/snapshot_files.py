"""The snapshots beside the metadata log: which there are, and their files.

What blocks may run anywhere; what is known of them changes only on the loop, when that is done: `write` and then
`add`, `delete` and then `forget`.

Invariants
  I1  A snapshot is complete and durable before it has its name.
  I2  What an interrupted writing or removal left is gone once they have been opened.
Not here   what is in them (metadata.snapshot, raft.snapshots), when they come and go (snapshots).
See        docs/formats/metadata-log.md, KIP-630
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.ports.disk import Disk
from quire.raft.snapshots import BOOTSTRAP, DELETED, PART, Snapshot, SnapshotId, snapshot_id
from quire.raft.snapshots import read as read_snapshot
from quire.storage.small_files import read_file


class SnapshotFiles:
    """See the module. Made by `open`."""

    def __init__(self, disk: Disk, directory: str, known: Sequence[SnapshotId]) -> None:
        self._disk = disk
        self._directory = directory
        self.known = tuple(sorted(known))

    @classmethod
    def open(cls, disk: Disk, directory: str) -> SnapshotFiles:
        """Those that are in the directory. Blocks."""
        found = []
        for name in disk.list(directory):
            if name.endswith((PART, DELETED)):  # I2
                disk.remove(f"{directory}/{name}")
            else:
                found.append(snapshot_id(name))
        return cls(disk, directory, list(filter(None, found)))

    @property
    def newest(self) -> SnapshotId | None:
        """The newest one that holds records; formatting leaves one without."""
        found = [one for one in self.known if one != BOOTSTRAP]
        return found[-1] if found else None

    def read(self, which: SnapshotId) -> Snapshot:
        """Its content, whole. Blocks."""
        return read_snapshot(read_file(self._disk, self._path(which)))

    def write(self, which: SnapshotId, batches: Sequence[bytearray]) -> None:
        """Make one, durably (I1). Blocks."""
        path = self._path(which)
        file = self._disk.open(path + PART, create=True)
        try:
            file.truncate(0)
            file.write(0, batches)
            file.flush()
        finally:
            file.close()
        self._disk.rename(path + PART, path)
        self._disk.flush_directory(self._directory)

    def add(self, which: SnapshotId) -> None:
        """It has been written."""
        self.known = tuple(sorted({*self.known, which}))

    def delete(self, which: Sequence[SnapshotId]) -> None:
        """They are not needed any more. Blocks."""
        for one in which:
            self._disk.remove(self._path(one))

    def forget(self, which: Sequence[SnapshotId]) -> None:
        """They are gone."""
        self.known = tuple(one for one in self.known if one not in which)

    def size_of(self, which: SnapshotId) -> int:
        return self._disk.stat(self._path(which)).size

    def modified_ms_of(self, which: SnapshotId) -> int:
        return self._disk.stat(self._path(which)).modified_ms

    def _path(self, which: SnapshotId) -> str:
        return f"{self._directory}/{which.file_name}"
