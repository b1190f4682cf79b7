"""The names inside a partition directory: what each one means, and how it is made.

A segment is known by its base offset in twenty digits; a suffix tells the kind of file, and a
second suffix the stage it is in (being written by the cleaner, being swapped in, waiting to be
removed).

Not here   directory names of partitions (storage.log_dirs), names of snapshots of the metadata log.
See        docs/formats/segment.md
"""

from __future__ import annotations

from typing import NamedTuple

from quire.ports.disk import Disk

LOG = ".log"
OFFSET_INDEX = ".index"
TIME_INDEX = ".timeindex"
TRANSACTION_INDEX = ".txnindex"
PRODUCER_SNAPSHOT = ".snapshot"

DELETED = ".deleted"
"""Waits to be unlinked; nobody reads it again."""
CLEANED = ".cleaned"
"""The cleaner was still writing it: worthless after a crash."""
SWAP = ".swap"
"""Complete and flushed: it must take the place of the segments it was made from."""

LEADER_EPOCHS = "leader-epoch-checkpoint"

INDEX_SUFFIXES = (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)
SEGMENT_SUFFIXES = (LOG, *INDEX_SUFFIXES)

_DIGITS = 20


def file_name(base_offset: int, suffix: str) -> str:
    return f"{base_offset:020d}{suffix}"


def file_path(directory: str, base_offset: int, suffix: str) -> str:
    return f"{directory}/{base_offset:020d}{suffix}"


def base_offset_of(name: str, suffix: str) -> int | None:
    """The offset that `name` carries when it is exactly twenty digits and `suffix`, else None."""
    digits = name[:_DIGITS]
    if name[_DIGITS:] != suffix or not (digits.isascii() and digits.isdigit()):
        return None
    return int(digits)


def base_offsets(names: list[str], suffix: str) -> list[int]:
    """The offsets of every name with `suffix`, ascending."""
    found = (base_offset_of(name, suffix) for name in names)
    return sorted(offset for offset in found if offset is not None)


class SegmentPlace(NamedTuple):
    """Where the files of one segment are, and in which stage."""

    disk: Disk
    directory: str
    base_offset: int
    suffix: str = ""

    def path(self, kind: str) -> str:
        return file_path(self.directory, self.base_offset, kind + self.suffix)
