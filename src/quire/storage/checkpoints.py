"""The text checkpoints of a log directory: an offset for each partition, replaced as a whole.

Invariants
  I1  A file that was never written, and an empty one, hold no offset; every other file has its
      version, its number of rows, and exactly that many rows, or it is corrupt.
  I2  After a crash there is the old file or the new one (storage.small_files).
Not here   which offsets are worth remembering, and when (storage.log_dirs).
See        docs/formats/checkpoints.md
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from quire.errors import CorruptFileError
from quire.ports.disk import Disk
from quire.storage.small_files import read_text, replace_file
from quire.types import TopicPartition

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
"""Everything below is flushed: an unclean start reads the log from here."""
LOG_START_OFFSETS = "log-start-offset-checkpoint"
"""Where a log begins when records were deleted inside its first segment."""
HIGH_WATERMARKS = "replication-offset-checkpoint"
"""How far each replica knew its log to be safe."""
CLEANER_OFFSETS = "cleaner-offset-checkpoint"
"""How far each compacted log is clean."""

_VERSION = "0"
_FIRST_ROW = 3


def read_offsets(disk: Disk, path: str) -> dict[TopicPartition, int]:
    """The offsets in `path`; nothing when it is not there."""
    offsets: dict[TopicPartition, int] = {}
    for number, (topic, partition, offset) in enumerate(read_rows(disk, path, 3), _FIRST_ROW):
        key = TopicPartition(topic, whole_number(partition, path, number))
        offsets[key] = whole_number(offset, path, number)
    return offsets


def write_offsets(disk: Disk, path: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Replace `path` by these offsets, in the order of their partitions."""
    rows = (f"{key.topic} {key.partition} {offset}" for key, offset in sorted(offsets.items()))
    write_rows(disk, path, rows)


def read_rows(disk: Disk, path: str, fields: int) -> list[list[str]]:
    """The rows of a text checkpoint, each of so many fields; none when the file is not there."""
    try:
        lines = read_text(disk, path).splitlines()
    except FileNotFoundError:
        return []
    if not lines:
        return []
    if lines[0] != _VERSION:
        raise CorruptFileError(path, f"line 1: unknown version {lines[0]!r}")
    if len(lines) == 1:
        raise CorruptFileError(path, "line 2: the number of rows is missing")
    count = whole_number(lines[1], path, 2)
    rows = [line.split(" ") for line in lines[2:]]
    if count != len(rows):
        raise CorruptFileError(path, f"line 2: {count} rows announced, {len(rows)} there")
    for number, row in enumerate(rows, _FIRST_ROW):
        if len(row) != fields:
            raise CorruptFileError(path, f"line {number}: {len(row)} fields, not {fields}")
    return rows


def write_rows(disk: Disk, path: str, rows: Iterable[str]) -> None:
    """Replace a text checkpoint."""
    lines = list(rows)
    text = "\n".join([_VERSION, str(len(lines)), *lines, ""])
    replace_file(disk, path, text.encode())


def whole_number(text: str, path: str, line_number: int) -> int:
    """A number from 0 on, of ASCII digits only."""
    if not (text.isascii() and text.isdigit() and len(text) <= 19):
        raise CorruptFileError(path, f"line {line_number}: {text!r} is not a whole number")
    return int(text)
