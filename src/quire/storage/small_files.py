"""Small files that are replaced as a whole: after any crash there is the old one or the new one. And directories.

Not here   what is in them (checkpoints, leader_epochs, partition_metadata, meta_properties).
"""

from __future__ import annotations

from quire.errors import CorruptFileError
from quire.ports.disk import Disk

_TEMPORARY = ".tmp"


def replace_file(disk: Disk, path: str, data: bytes, *, flush_directory: bool = True) -> None:
    """Make `data` the durable content of `path`.

    Written beside it, flushed, renamed over it, the directory flushed: on OSError the old content
    stands, or the new one does without being durable yet. Whoever changes more in the directory may
    flush it himself.
    """
    temporary = path + _TEMPORARY
    file = disk.open(temporary, create=True)
    try:
        file.truncate(0)
        file.write(0, [data])
        file.flush()
    finally:
        file.close()
    disk.rename(temporary, path)
    if flush_directory:
        disk.flush_directory(parent_of(path))


def read_file(disk: Disk, path: str) -> bytes:
    """All of `path`."""
    file = disk.open(path, writable=False)
    try:
        return file.read(0, file.size())
    finally:
        file.close()


def read_text(disk: Disk, path: str) -> str:
    """All of `path` as UTF-8; CorruptFileError when it is not."""
    try:
        return read_file(disk, path).decode()
    except UnicodeDecodeError as error:
        raise CorruptFileError(path, f"not UTF-8 at byte {error.start}") from None


def parent_of(path: str) -> str:
    """The directory that holds `path`."""
    return path.rpartition("/")[0] or "/"


def make_directory(disk: Disk, path: str) -> None:
    """Make `path` and its missing parents, durably."""
    missing = []
    at = path
    while not disk.exists(at):
        missing.append(at)
        at = parent_of(at)
    disk.make_directory(path)
    for made in reversed(missing):
        disk.flush_directory(parent_of(made))
