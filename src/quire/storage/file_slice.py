"""A stretch of a file that somebody may send, without its bytes having been read.

The runtime sends it by `pread` or `sendfile`, the simulator copies it; the file stays readable for
as long as the slice is held, even when its segment has been removed meanwhile.
"""

from __future__ import annotations

from typing import NamedTuple

from quire.ports.disk import File


class FileSlice(NamedTuple):
    """`size` bytes of `file` from `position`; it may end inside a batch."""

    file: File
    position: int
    size: int

    def read(self) -> bytes:
        """The bytes, for those who decode them here (tools, coordinators, tests)."""
        return self.file.read(self.position, self.size)
