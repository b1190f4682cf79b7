"""The words that both implementations share: one record, what a scan and a selection find, and faults.

Not here   reading and writing bytes (reference, kernel), the 61 bytes in front of the records (batch).
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple, TypeAlias

from quire.errors import CorruptBatchError

Buffer: TypeAlias = bytes | bytearray | memoryview
"""Anything that shows its bytes without a copy. A memoryview must be contiguous."""

Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]

HEADER_SIZE = 61
"""The bytes of a batch in front of its records."""

RECORD_SIZE_MIN = 7
"""Length, attributes, two deltas, two lengths of -1 or 0, and no headers: one byte each."""

RECORD_HEADER_SIZE_MIN = 2
"""An empty key and a null value."""


class Record(NamedTuple):
    """One record, with the absolute offset and timestamp that it has in its batch."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


class RecordScan(NamedTuple):
    """What one walk over the records of a batch finds out; its form was right when this exists."""

    min_timestamp_delta: int
    max_timestamp_delta: int
    max_timestamp_index: int
    """The first record that has the largest timestamp; -1 when there are no records."""
    keyless: int
    """How many records have no key."""
    first_misplaced: int
    """The first record whose offset delta is not its place in the batch; -1 when all are."""


class Selection(NamedTuple):
    """Which records of a batch survive compaction."""

    flags: bytearray
    """One byte per record: 1 keeps it."""
    kept: int
    kept_tombstones: int
    keyless: int
    """How many were dropped because a compacted log cannot hold a record without a key."""
    first_timestamp_delta: int
    """Of the first kept record; 0 when nothing is kept."""
    max_timestamp_delta: int
    """Of the kept records; 0 when nothing is kept."""


class Fault(IntEnum):
    """How the bytes of a record can be wrong."""

    COUNT = 1
    NUMBER_TRUNCATED = 2
    NUMBER_TOO_LONG = 3
    RECORD_LENGTH = 4
    KEY_LENGTH = 5
    VALUE_LENGTH = 6
    HEADER_COUNT = 7
    HEADER_KEY_LENGTH = 8
    HEADER_VALUE_LENGTH = 9
    RECORD_NOT_FILLED = 10
    TRAILING_BYTES = 11
    OFFSET_RANGE = 12
    TIMESTAMP_RANGE = 13


_SENTENCES = {
    Fault.COUNT: "the batch is too small for the number of records it claims",
    Fault.NUMBER_TRUNCATED: "a number runs past the end",
    Fault.NUMBER_TOO_LONG: "a number has more bits than its field",
    Fault.RECORD_LENGTH: "the record's length does not fit into the batch",
    Fault.KEY_LENGTH: "the key's length does not fit into the record",
    Fault.VALUE_LENGTH: "the value's length does not fit into the record",
    Fault.HEADER_COUNT: "the number of headers does not fit into the record",
    Fault.HEADER_KEY_LENGTH: "a header's key length does not fit into the record",
    Fault.HEADER_VALUE_LENGTH: "a header's value length does not fit into the record",
    Fault.RECORD_NOT_FILLED: "the fields end before the record does",
    Fault.TRAILING_BYTES: "bytes are left over after the last record",
    Fault.OFFSET_RANGE: "the offset does not fit into 64 bits",
    Fault.TIMESTAMP_RANGE: "the timestamp does not fit into 64 bits",
}


def record_fault(fault: int, index: int, position: int) -> CorruptBatchError:
    """The error for a fault in record `index`, at byte `position` of the (uncompressed) records."""
    return CorruptBatchError(
        f"record {index}: {_SENTENCES[Fault(fault)]} (byte {position} of the records)"
    )
