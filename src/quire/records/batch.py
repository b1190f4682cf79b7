"""One record batch, format v2: its 61-byte header, and whole batches from records and back.

Batches are handled as (buffer, position, header): nothing is copied until records are decoded.

Invariants
  I1  A header that `read_header` gives names a size of at least 61 bytes; whether the buffer holds them all is asked
      separately (`iterate_headers` stops there, `decode_batch` raises).
  I2  What `seal` has closed has the length and the checksum of its bytes.
  I3  `stamp` touches only bytes outside the checksum.
Not here   the rules for what a producer may send (validate), markers (control), codecs (compression).
See        docs/formats/record-batch.md, KIP-98 (the format), KIP-534 (delete horizon)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Final, NamedTuple, TypedDict, Unpack

from quire.errors import CorruptBatchError
from quire.records import implementation
from quire.records.checksum import crc32c
from quire.records.compression import Compression, compress, decompress
from quire.records.record import HEADER_SIZE, Buffer, Headers, Record

__all__ = [
    "DECOMPRESSED_BYTES_MAX",
    "HEADER_SIZE",
    "NO_PRODUCER_EPOCH",
    "NO_PRODUCER_ID",
    "NO_SEQUENCE",
    "NO_TIMESTAMP",
    "BatchFields",
    "BatchHeader",
    "Buffer",
    "Compression",
    "Headers",
    "Record",
    "check_crc",
    "decode_batch",
    "decode_records",
    "encode_batch",
    "encode_empty_batch",
    "encode_pairs",
    "iterate_headers",
    "read_header",
    "read_section",
    "seal",
    "stamp",
    "stamp_log_append_time",
]

MAGIC: Final = 2
LENGTH_MIN: Final = HEADER_SIZE - 12
"""The smallest batch length: the rest of the header after the length field."""
PREAMBLE_SIZE: Final = 12
"""Base offset and batch length, which the batch length does not count."""
MAGIC_POSITION: Final = 16
CRC_POSITION: Final = 17
CHECKSUMMED_FROM: Final = 21

NO_TIMESTAMP: Final = -1
NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_SEQUENCE: Final = -1

DECOMPRESSED_BYTES_MAX: Final = 256 * 1024 * 1024
"""What a compressed batch may grow to, where the caller names no bound."""

_COMPRESSION_MASK: Final = 0x07
_LOG_APPEND_TIME: Final = 0x08
_TRANSACTIONAL: Final = 0x10
_CONTROL: Final = 0x20
_DELETE_HORIZON: Final = 0x40

_HEADER: Final = Struct(">qiibIhiqqqhii")
_STAMP: Final = Struct(">qii")
_CRC: Final = Struct(">I")
_ATTRIBUTES: Final = Struct(">h")
_MAX_TIMESTAMP: Final = Struct(">q")
_MAX_TIMESTAMP_POSITION: Final = 35


_new = tuple.__new__  # a NamedTuple of values that are in a tuple already, at a third of `_make`


class BatchHeader(NamedTuple):
    """The fields of a batch header, in the order of the bytes."""

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size(self) -> int:
        """The bytes of the whole batch."""
        return self.batch_length + PREAMBLE_SIZE

    @property
    def last_offset(self) -> int:
        """Inclusive. Compaction does not change it, even when the last record goes."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def last_sequence(self) -> int:
        """After 2^31-1 comes 0; -1 when the producer is not idempotent."""
        if self.base_sequence < 0:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) & 0x7FFFFFFF

    @property
    def compression(self) -> Compression:
        """ValueError for the three numbers that no codec has (`read_header` does not let them pass)."""
        return Compression(self.attributes & _COMPRESSION_MASK)

    @property
    def is_log_append_time(self) -> bool:
        """The maximum timestamp is the timestamp of every record."""
        return bool(self.attributes & _LOG_APPEND_TIME)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & _TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & _CONTROL)

    @property
    def has_delete_horizon(self) -> bool:
        return bool(self.attributes & _DELETE_HORIZON)

    @property
    def delete_horizon_ms(self) -> int | None:
        """When the tombstones (or the marker) of this batch may go; None before a cleaner has seen them."""
        return self.base_timestamp if self.attributes & _DELETE_HORIZON else None

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id > NO_PRODUCER_ID


class BatchFields(TypedDict, total=False):
    """What can be said of a batch that is being written; each has the default of a plain batch."""

    base_offset: int
    """Default 0. Records carry absolute offsets, which must not be far from it."""
    compression: Compression
    level: int | None
    """Of the codec; None is the codec's own default."""
    partition_leader_epoch: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    is_transactional: bool
    is_control: bool
    log_append_time_ms: int | None
    """Sets the timestamp type, and is the maximum timestamp."""
    delete_horizon_ms: int | None
    """Sets the bit, and is the base timestamp."""
    last_offset_delta: int
    """Default: of the last record. Needed when there are no records."""
    max_timestamp: int
    """Default: the largest of the records."""


# --- headers ---------------------------------------------------------------------------------


def read_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header at `position`, checked for what no batch can have; the checksum is not looked at."""
    remaining = len(buffer) - position
    if remaining > MAGIC_POSITION and buffer[position + MAGIC_POSITION] != MAGIC:
        raise CorruptBatchError(_wrong_magic(buffer[position + MAGIC_POSITION]), position=position)
    if remaining < HEADER_SIZE:
        raise CorruptBatchError(
            f"{remaining} bytes are left, a batch has at least {HEADER_SIZE}", position=position
        )
    header = BatchHeader._make(_HEADER.unpack_from(buffer, position))
    if (
        header.batch_length < LENGTH_MIN
        or header.record_count < 0
        or header.last_offset_delta < 0
        or header.base_offset < 0
        or header.attributes & _COMPRESSION_MASK > Compression.ZSTD
    ):
        raise CorruptBatchError(_impossible_field(header), position=position)
    return header


def _wrong_magic(magic: int) -> str:
    if magic in (0, 1):
        return f"magic {magic} is a message format from before record batches, not supported"
    return f"magic {magic} is not a record batch"


def _impossible_field(header: BatchHeader) -> str:
    if header.batch_length < LENGTH_MIN:
        return f"batch length {header.batch_length} is below {LENGTH_MIN}"
    if header.record_count < 0:
        return f"record count {header.record_count} is negative"
    if header.last_offset_delta < 0:
        return f"last offset delta {header.last_offset_delta} is negative"
    if header.base_offset < 0:
        return f"base offset {header.base_offset} is negative"
    return f"attributes {header.attributes:#06x} name no known codec"


def iterate_headers(buffer: Buffer) -> Iterator[tuple[int, BatchHeader]]:
    """Position and header of each whole batch; a partial batch at the end is left alone."""
    position = 0
    end = len(buffer)
    while end - position >= HEADER_SIZE:
        header = read_header(buffer, position)
        if header.size > end - position:
            return
        yield position, header
        position += header.size


def check_crc(buffer: Buffer, position: int, header: BatchHeader) -> bool:
    """Whether all bytes of the batch are there and have the checksum that the header names."""
    end = position + header.size
    if end > len(buffer):
        return False
    return crc32c(buffer, position + CHECKSUMMED_FROM, end) == header.crc


def stamp(
    buffer: bytearray | memoryview, position: int, *, base_offset: int, leader_epoch: int
) -> None:
    """Give the batch its place in a log, in the buffer itself. The checksum does not cover it."""
    length = int.from_bytes(buffer[position + 8 : position + PREAMBLE_SIZE], "big", signed=True)
    _STAMP.pack_into(buffer, position, base_offset, length, leader_epoch)


def stamp_known(
    buffer: bytearray | memoryview, header: BatchHeader, *, base_offset: int, leader_epoch: int
) -> BatchHeader:
    """`stamp` for the one batch in `buffer` whose header was read before; the header as it is then."""
    _STAMP.pack_into(buffer, 0, base_offset, header[1], leader_epoch)
    return _new(BatchHeader, (base_offset, header[1], leader_epoch, *header[3:]))


def stamp_log_append_time(
    buffer: bytearray | memoryview, position: int, header: BatchHeader, *, now_ms: int
) -> BatchHeader:
    """Make `now_ms` the timestamp of every record, in the buffer itself; the header as it is then."""
    attributes = header.attributes | _LOG_APPEND_TIME
    _ATTRIBUTES.pack_into(buffer, position + CHECKSUMMED_FROM, attributes)
    _MAX_TIMESTAMP.pack_into(buffer, position + _MAX_TIMESTAMP_POSITION, now_ms)
    crc = reseal(buffer, position, header)
    return header._replace(attributes=attributes, max_timestamp=now_ms, crc=crc)


def reseal(buffer: bytearray | memoryview, position: int, header: BatchHeader) -> int:
    """Compute the checksum of the batch anew and write it; the checksum."""
    crc = crc32c(buffer, position + CHECKSUMMED_FROM, position + header.size)
    _CRC.pack_into(buffer, position + CRC_POSITION, crc)
    return crc


# --- write -----------------------------------------------------------------------------------


def encode_batch(records: Sequence[Record], **fields: Unpack[BatchFields]) -> bytearray:
    """A whole batch of at least one record, ready for a log or a request."""
    if not records:
        message = "encode_batch needs records; encode_empty_batch writes a batch without"
        raise ValueError(message)
    base_offset = fields.get("base_offset", 0)
    horizon = fields.get("delete_horizon_ms")
    base_timestamp = records[0][1] if horizon is None else horizon
    out, max_timestamp = implementation.encode_records(records, base_offset, base_timestamp)
    fields.setdefault("last_offset_delta", records[-1][0] - base_offset)
    fields.setdefault("max_timestamp", max_timestamp)
    return _close(out, len(records), base_timestamp, fields)


def encode_pairs(
    pairs: Sequence[tuple[bytes | None, bytes | None]],
    timestamp: int,
    **fields: Unpack[BatchFields],
) -> bytearray:
    """A whole batch of keys and values with one timestamp and no headers: a producer's fast path."""
    out = implementation.encode_pairs(pairs)
    horizon = fields.get("delete_horizon_ms")
    if not pairs or horizon is not None:
        message = "encode_pairs needs pairs, and writes no delete horizon"
        raise ValueError(message)
    fields.setdefault("last_offset_delta", len(pairs) - 1)
    fields.setdefault("max_timestamp", timestamp)
    return _close(out, len(pairs), timestamp, fields)


def encode_empty_batch(header: BatchHeader) -> bytearray:
    """What compaction leaves of a batch whose records are all gone: its header, without base timestamp."""
    kept = header.attributes & (_LOG_APPEND_TIME | _TRANSACTIONAL | _CONTROL)
    return seal(
        bytearray(HEADER_SIZE),
        header._replace(attributes=kept, base_timestamp=NO_TIMESTAMP, record_count=0),
    )


def _close(
    out: bytearray, record_count: int, base_timestamp: int, fields: BatchFields
) -> bytearray:
    """Compress the section that follows the room for the header, then write the header."""
    codec = fields.get("compression", Compression.NONE)
    attributes = int(codec)
    log_append_time_ms = fields.get("log_append_time_ms")
    if log_append_time_ms is not None:
        attributes |= _LOG_APPEND_TIME
        fields["max_timestamp"] = log_append_time_ms
    if fields.get("is_transactional"):
        attributes |= _TRANSACTIONAL
    if fields.get("is_control"):
        attributes |= _CONTROL
    if fields.get("delete_horizon_ms") is not None:
        attributes |= _DELETE_HORIZON
    if codec:
        with memoryview(out) as view, view[HEADER_SIZE:] as section:
            packed = compress(codec, section, fields.get("level"))
        out[HEADER_SIZE:] = packed
    header = BatchHeader(
        base_offset=fields.get("base_offset", 0),
        batch_length=0,
        partition_leader_epoch=fields.get("partition_leader_epoch", -1),
        magic=MAGIC,
        crc=0,
        attributes=attributes,
        last_offset_delta=fields["last_offset_delta"],
        base_timestamp=base_timestamp,
        max_timestamp=fields["max_timestamp"],
        producer_id=fields.get("producer_id", NO_PRODUCER_ID),
        producer_epoch=fields.get("producer_epoch", NO_PRODUCER_EPOCH),
        base_sequence=fields.get("base_sequence", NO_SEQUENCE),
        record_count=record_count,
    )
    return seal(out, header)


def seal(out: bytearray, header: BatchHeader) -> bytearray:
    """Write `header` into the first 61 bytes of `out`, with the length and checksum that are true."""
    batch_length = len(out) - PREAMBLE_SIZE
    if batch_length > 0x7FFFFFFF:
        message = f"a batch of {len(out)} bytes cannot name its length"
        raise OverflowError(message)
    values = (header.base_offset, batch_length, header.partition_leader_epoch, MAGIC, 0)
    _HEADER.pack_into(out, 0, *values, *header[5:])
    _CRC.pack_into(out, CRC_POSITION, crc32c(out, CHECKSUMMED_FROM))
    return out


# --- read ------------------------------------------------------------------------------------


def decode_batch(
    buffer: Buffer, position: int = 0, *, limit: int = DECOMPRESSED_BYTES_MAX
) -> list[Record]:
    """The records of the batch at `position`. Check the checksum first where the bytes are not trusted."""
    return decode_records(buffer, position, read_header(buffer, position), limit=limit)


def decode_records(
    buffer: Buffer, position: int, header: BatchHeader, *, limit: int = DECOMPRESSED_BYTES_MAX
) -> list[Record]:
    """As `decode_batch`, for a caller who has read the header."""
    section = read_section(buffer, position, header, limit=limit)
    append_time = header.max_timestamp if header.attributes & _LOG_APPEND_TIME else None
    try:
        return implementation.decode_records(
            section, header.record_count, header.base_offset, header.base_timestamp, append_time
        )
    except CorruptBatchError as fault:
        raise CorruptBatchError(fault.message, position=position) from fault


def read_section(
    buffer: Buffer, position: int, header: BatchHeader, *, limit: int = DECOMPRESSED_BYTES_MAX
) -> Buffer:
    """The records' bytes after decompression; a view of `buffer` when they are not compressed."""
    end = position + header.size
    if end > len(buffer):
        raise CorruptBatchError(
            f"the batch has {header.size} bytes, {len(buffer) - position} are there",
            position=position,
        )
    section = memoryview(buffer)[position + HEADER_SIZE : end]
    codec = header.attributes & _COMPRESSION_MASK
    if not codec:
        return section
    if not header.record_count and not section.nbytes:
        return section
    try:
        return decompress(Compression(codec), section, limit=limit)
    except CorruptBatchError as fault:
        raise type(fault)(fault.message, position=position) from fault
