"""Walks over the batches of a .log file in bounded pieces, headers first.

A lookup reads a few KiB and skips the payloads; whoever needs whole batches (recovery, the replay
of producer state) gets each one in a buffer that is used again for the next.

Invariants
  I1  No more memory is taken than the file has bytes left, whatever size a batch claims.
  I2  A batch is handed out only when all of it is inside the bounds that were given.
Not here   what is done about a broken batch: storage.recovery cuts, a reader gets the error.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Final, NamedTuple

from quire.errors import CorruptBatchError
from quire.ports.disk import File
from quire.records.batch import (
    HEADER_SIZE,
    LENGTH_MIN,
    MAGIC,
    PREAMBLE_SIZE,
    BatchHeader,
    read_header,
)

LOOKUP_CHUNK_BYTES = 8 << 10
SCAN_CHUNK_BYTES = 1 << 20
_STEP: Final = Struct(">qi4xb6xi").unpack_from
"""Base offset, length, magic and last offset delta of a header."""


class BatchView(NamedTuple):
    """A whole batch, at `at` in `buffer`, which is only good until the next one is asked for."""

    position: int
    header: BatchHeader
    buffer: memoryview
    at: int


def headers(
    file: File, position: int, end: int, *, chunk_bytes: int = LOOKUP_CHUNK_BYTES
) -> Iterator[tuple[int, BatchHeader]]:
    """Every (position, header) from `position` to `end`; CorruptBatchError for a bad batch."""
    while position < end:
        chunk = file.read(position, min(chunk_bytes, end - position))
        at = 0
        usable = len(chunk) - HEADER_SIZE
        while at <= usable:
            header = read_header_at(file, position + at, chunk, at, end)
            yield position + at, header
            at += header.size
        if not at:
            raise CorruptBatchError(
                f"{end - position} bytes are too few for a batch", path=file.path, position=position
            )
        position += at


def find(file: File, position: int, end: int, offset: int) -> tuple[int, BatchHeader] | None:
    """(position, header) of the first batch from `position` on that ends at or above `offset`.

    Batches before it are stepped over by their lengths alone; CorruptBatchError for a bad one.
    """
    while position < end:
        chunk = file.read(position, min(LOOKUP_CHUNK_BYTES, end - position))
        at, usable = 0, len(chunk) - HEADER_SIZE
        while at <= usable:
            base_offset, length, magic, last_offset_delta = _STEP(chunk, at)
            if base_offset + last_offset_delta >= offset or magic != MAGIC or length < LENGTH_MIN:
                header = read_header_at(file, position + at, chunk, at, end)
                if header.last_offset >= offset:
                    return position + at, header
            at += length + PREAMBLE_SIZE
        if not at:
            raise CorruptBatchError(
                f"{end - position} bytes are too few for a batch", path=file.path, position=position
            )
        position += at
    if position > end:
        message = f"the last batch has {position - end} bytes less than it says"
        raise CorruptBatchError(message, path=file.path, position=end)
    return None


def whole_batches(
    file: File, position: int, end: int, *, chunk_bytes: int = SCAN_CHUNK_BYTES
) -> Iterator[BatchView]:
    """Every batch from `position` to `end` with its bytes; CorruptBatchError for a bad one."""
    buffer = memoryview(bytearray(min(chunk_bytes, max(end - position, 0))))
    while position < end:
        filled = file.read_into(position, buffer[: min(len(buffer), end - position)])
        at = needed = 0
        while at + HEADER_SIZE <= filled:
            header = read_header_at(file, position + at, buffer, at, end)
            needed = header.size
            if at + needed > filled:
                break
            yield BatchView(position + at, header, buffer, at)
            at += needed
        if not at:
            if needed <= filled:
                left = end - position
                message = f"{left} bytes are too few for a batch"
                raise CorruptBatchError(message, path=file.path, position=position)
            buffer = memoryview(bytearray(needed))
        position += at


def read_header_at(
    file: File, position: int, buffer: bytes | memoryview, at: int, end: int
) -> BatchHeader:
    """The header at `at` in `buffer`, which is byte `position` of `file`; it must end by `end`."""
    try:
        header = read_header(buffer, at)
    except CorruptBatchError as error:
        raise CorruptBatchError(error.message, path=file.path, position=position) from None
    if position + header.size > end:
        message = f"a batch of {header.size} bytes has only {end - position} left"
        raise CorruptBatchError(message, path=file.path, position=position)
    return header
