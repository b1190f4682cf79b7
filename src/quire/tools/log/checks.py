"""Do the indexes of a segment tell the truth about its log? Compared entry by entry, in one walk over the headers.

Invariants
  I1  Nothing is kept per batch: index entries ascend like batches do, so one walk meets them all.
Not here   checksums of batches (readers say them), repair (the log rebuilds wrong indexes when it opens).
See        docs/formats/indexes.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from quire.errors import CorruptBatchError
from quire.ports.disk import Disk
from quire.storage import scan
from quire.storage.file_names import LOG, OFFSET_INDEX, TIME_INDEX
from quire.tools.log.facts import Fact, fault
from quire.tools.log.readers import Wanted, offset_entries, time_entries


def index_faults(disk: Disk, path: str) -> Iterator[Fact]:
    """What is wrong with the index at `path`, beside the segment it belongs to."""
    for kind, check in ((OFFSET_INDEX, _offset_faults), (TIME_INDEX, _time_faults)):
        if path.endswith(kind):
            log_path = path.removesuffix(kind) + LOG
            if not disk.exists(log_path):
                yield fault(path, None, "there is no .log file beside this index")
                return
            try:
                yield from check(disk, path, log_path)
            except CorruptBatchError:
                return  # the segment's own walk reports it


def _headers(disk: Disk, log_path: str) -> Iterator[tuple[int, int, int]]:
    """(position, last offset, max timestamp) of every batch."""
    file = disk.open(log_path, writable=False)
    try:
        for position, header in scan.headers(file, 0, file.size(), chunk_bytes=1 << 16):
            yield position, header.last_offset, header.max_timestamp
    finally:
        file.close()


def _offset_faults(disk: Disk, path: str, log_path: str) -> Iterator[Fact]:
    batches = _headers(disk, log_path)
    batch = next(batches, None)
    previous = -1
    for entry in offset_entries(disk, path, Wanted()):
        if entry["kind"] == "fault":
            yield entry
            continue
        number, offset, position = entry["number"], entry["offset"], entry["position"]
        if position <= previous:
            yield fault(path, number * 8, f"entry {number}: position {position} does not ascend")
            return
        previous = position
        while batch is not None and batch[0] < position:
            batch = next(batches, None)
        if batch is None or batch[0] != position:
            yield fault(path, number * 8, f"entry {number}: no batch starts at position {position}")
        elif batch[1] != offset:
            message = (
                f"entry {number}: the batch at {position} ends at offset {batch[1]}, not {offset}"
            )
            yield fault(path, number * 8, message)


def _time_faults(disk: Disk, path: str, log_path: str) -> Iterator[Fact]:
    batches = _headers(disk, log_path)
    batch = next(batches, None)
    largest = -1
    previous = (-1, -1)
    for entry in time_entries(disk, path, Wanted()):
        if entry["kind"] == "fault":
            yield entry
            continue
        number, timestamp, offset = entry["number"], entry["timestamp"], entry["offset"]
        if (timestamp, offset) <= previous and number:
            yield fault(
                path, number * 12, f"entry {number}: ({timestamp}, {offset}) does not ascend"
            )
            return
        previous = (timestamp, offset)
        while batch is not None and batch[1] < offset:
            largest = max(largest, batch[2])
            batch = next(batches, None)
        found = batch[2] if batch is not None else -1
        if batch is None or batch[1] != offset:
            if timestamp >= 0:
                yield fault(path, number * 12, f"entry {number}: no batch ends at offset {offset}")
        elif found != timestamp or largest > timestamp:
            actual = max(found, largest)
            message = f"entry {number}: the largest timestamp up to offset {offset} is {actual}, not {timestamp}"
            yield fault(path, number * 12, message)
