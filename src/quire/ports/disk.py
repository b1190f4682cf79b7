"""The door to the disk: files with explicit positions, directories whose names must be flushed too.

What a crash may take. Bytes written but not flushed, in any subset and torn at any byte; the size of a file;
names created, renamed or removed in a directory that was not flushed. What was flushed stays.

Errors are OSError with a true errno (ENOSPC, EIO, ENOENT, EEXIST), for every implementation.
Implementations   runtime.disk (the real one), sim.disk (a page cache that forgets, tears and fills up).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

Bytes: TypeAlias = bytes | bytearray | memoryview
"""What can be written: anything that shows its bytes without a copy."""


class Stat(NamedTuple):
    """What the disk knows of one name."""

    size: int
    modified_ms: int
    is_directory: bool


class File(Protocol):
    """One open file. It has no cursor: every read and write names its position.

    A removed file can be read for as long as somebody holds it; the last holder's release frees it.
    """

    @property
    def path(self) -> str: ...

    def size(self) -> int: ...

    def read(self, position: int, size: int) -> bytes:
        """`size` bytes from `position`; fewer only at the end of the file."""
        ...

    def read_into(self, position: int, buffer: memoryview) -> int:
        """Fill `buffer` from `position`; the count is smaller only at the end of the file."""
        ...

    def write(self, position: int, buffers: Sequence[Bytes]) -> int:
        """Write all buffers at `position` as one (one writev where the system has it); the bytes written.

        On OSError any prefix may have been written.
        """
        ...

    def map(self, size: int) -> memoryview:
        """A read-only view of the first `size` bytes, valid until released. `size` > 0 and within the file."""
        ...

    def allocate(self, size: int) -> None:
        """Reserve room up to `size` and make the file that long (its new part reads as zeros)."""
        ...

    def truncate(self, size: int) -> None: ...

    def flush(self) -> None:
        """Return once content and size are durable. The name needs `Disk.flush_directory`."""
        ...

    def close(self) -> None: ...


class Lock(Protocol):
    """An exclusive claim on a path, gone with its process."""

    def release(self) -> None: ...


class Disk(Protocol):
    """One machine's file system. Paths are absolute strings joined by `/`."""

    def open(self, path: str, *, create: bool = False, writable: bool = True) -> File:
        """Open `path`; with `create`, make it when it is not there. ENOENT otherwise."""
        ...

    def exists(self, path: str) -> bool: ...

    def stat(self, path: str) -> Stat: ...

    def list(self, path: str) -> list[str]:
        """The names inside a directory, sorted."""
        ...

    def make_directory(self, path: str) -> None:
        """Make `path` and its missing parents; nothing happens when it is there."""
        ...

    def rename(self, old: str, new: str) -> None:
        """Atomic; replaces a file at `new`. Durable after both directories are flushed."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file, or an empty directory."""
        ...

    def flush_directory(self, path: str) -> None: ...

    def lock(self, path: str) -> Lock:
        """Claim `path` for this process; BlockingIOError when another holds it."""
        ...

    def free_bytes(self, path: str) -> int: ...

    def total_bytes(self, path: str) -> int:
        """The size of the whole file system."""
        ...
