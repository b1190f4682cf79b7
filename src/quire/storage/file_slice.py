"""A stretch of a file that somebody may send, without its bytes having been read.

The runtime sends it by `pread` or `sendfile`, the simulator copies it; the file stays readable for
as long as the slice is held, even when its segment has been removed meanwhile.

It is a `ports.network.FileRange`, and it has a length, so a message takes it where records belong.
"""

from __future__ import annotations

from quire.ports.disk import File


class FileSlice:
    """`size` bytes of `file` from `position`; it may end inside a batch. Not changed once made."""

    __slots__ = ("file", "position", "size")

    def __init__(self, file: File, position: int, size: int) -> None:
        self.file = file
        self.position = position
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"FileSlice({self.file.path!r}, {self.position}, {self.size})"

    def read(self) -> bytes:
        """The bytes, for those who decode them here (tools, coordinators, tests)."""
        return self.file.read(self.position, self.size)
