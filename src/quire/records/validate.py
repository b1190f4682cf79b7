"""What a broker demands of a batch before it enters a log, and how the batch is made to fit its topic.

`validate_batch` looks and never changes a byte; `conform_batch` applies the topic's timestamp type and compression to
what passed. Offsets and the leader epoch are stamped by the log (`batch.stamp`).

Invariants
  I1  What passes is exactly one batch with a right checksum, whose records fill it to the last byte.
  I2  From a client: offsets 0..n-1, no control batch, no transaction without a producer id.
  I3  A refusal names the error code that its producer gets; records at fault are listed by index.
Not here   sequence numbers and fencing (the log's producer state), authorisation, quotas.
See        docs/formats/record-batch.md, KIP-467 (record errors), KIP-937 (timestamp bounds)
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple, TypedDict, Unpack

from quire.errors import CorruptBatchError, ErrorCode, InvalidBatchError
from quire.records import implementation
from quire.records.batch import (
    CHECKSUMMED_FROM,
    CRC_POSITION,
    DECOMPRESSED_BYTES_MAX,
    HEADER_SIZE,
    MAGIC_POSITION,
    NO_TIMESTAMP,
    BatchHeader,
    check_crc,
    read_header,
    read_section,
    seal,
    stamp_log_append_time,
)
from quire.records.checksum import crc32c
from quire.records.compression import Compression, OversizedBatchError, compress
from quire.records.record import Buffer, RecordScan

INT64_MAX: Final = 2**63 - 1

_NO_SUCH_BYTES: Final = ErrorCode.UNKNOWN_SERVER_ERROR
"""For bytes that came as they were sent, and that no codec can have made: sending them again does not help."""

_LOG_APPEND_TIME: Final = 0x08
_MORE_THAN_A_CODEC: Final = 0x78
"""The attributes that say whose time it is, transactional, control and delete horizon."""

_new = tuple.__new__  # a NamedTuple of values that are in a tuple already, at a third of `_make`


class TimestampType(IntEnum):
    """Whose clock a record's timestamp is: its producer's, or the leader's at the append."""

    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class Origin(IntEnum):
    """Who wrote a batch that is to be appended."""

    CLIENT = 0
    COORDINATOR = 1
    """May write control batches."""


class RecordError(NamedTuple):
    """One record at fault, by its index in the batch."""

    batch_index: int
    message: str


class InvalidRecordsError(InvalidBatchError):
    """A batch refused because of some of its records."""

    def __init__(
        self, code: ErrorCode, message: str, record_errors: tuple[RecordError, ...]
    ) -> None:
        super().__init__(code, message)
        self.record_errors = record_errors


class BatchRules(TypedDict, total=False):
    """What a topic demands; each has the default of Kafka's own setting or demands nothing."""

    compacted: bool
    """`cleanup.policy` contains compact: every record needs a key."""
    timestamp_type: TimestampType
    before_max_ms: int
    """`message.timestamp.before.max.ms`"""
    after_max_ms: int
    """`message.timestamp.after.max.ms`"""
    max_bytes: int
    """`max.message.bytes`"""
    decompressed_max_bytes: int


class ValidatedBatch(NamedTuple):
    """A batch that passed, and what was learnt on the way."""

    header: BatchHeader
    section: Buffer
    """The records, decompressed."""
    max_timestamp: int
    """The largest of the records' own, whatever the header says."""
    max_timestamp_delta: int
    """The offset delta of the first record that has it."""


class Admission(NamedTuple):
    """What the short way asks of a batch, where the topic stores what comes as it comes."""

    max_bytes: int
    before_max_ms: int
    after_max_ms: int
    needs_keys: bool


def admit_batch(buffer: Buffer, admission: Admission, now_ms: int) -> BatchHeader | None:
    """The header of a client's batch that is stored as it is, where that can be told in one call.

    None says nothing: `validate_batch` decides then. Whatever is admitted here, it would let pass too.
    """
    max_bytes, before_max_ms, after_max_ms, needs_keys = admission
    fields = implementation.admit_batch(
        buffer,
        max_bytes,
        now_ms - before_max_ms,
        min(now_ms + after_max_ms, INT64_MAX),
        needs_keys,
    )
    return None if fields is None else _new(BatchHeader, fields)


def validate_batch(
    buffer: Buffer, *, now_ms: int, origin: Origin = Origin.CLIENT, **rules: Unpack[BatchRules]
) -> ValidatedBatch:
    """Check that `buffer` is one batch that may be appended; InvalidBatchError says why not."""
    header = _read_only_header(buffer)
    _check_size(header, rules.get("max_bytes"))
    if not check_crc(buffer, 0, header):
        raise InvalidBatchError(ErrorCode.CORRUPT_MESSAGE, "the batch has a wrong checksum")
    _check_header(header, origin)
    section, scan = _scan(buffer, header, rules.get("decompressed_max_bytes"))
    if scan.first_misplaced >= 0:
        raise InvalidRecordsError(
            ErrorCode.INVALID_RECORD,
            "the offsets of the records do not count up from 0",
            (RecordError(scan.first_misplaced, "its offset is not its place in the batch"),),
        )
    if scan.keyless and rules.get("compacted"):
        raise _without_key(section, header)
    max_timestamp = header.base_timestamp + scan.max_timestamp_delta
    if rules.get("timestamp_type") is not TimestampType.LOG_APPEND_TIME:
        _check_timestamps(section, header, scan, (now_ms, rules))
    return ValidatedBatch(header, section, max_timestamp, scan.max_timestamp_index)


def _read_only_header(buffer: Buffer) -> BatchHeader:
    try:
        header = read_header(buffer)
    except CorruptBatchError as fault:
        raise InvalidBatchError(_code_of_fault(buffer), fault.message) from fault
    if header.size > len(buffer):
        raise InvalidBatchError(
            ErrorCode.CORRUPT_MESSAGE,
            f"the batch claims {header.size} bytes, {len(buffer)} were sent",
        )
    if header.size < len(buffer):
        raise InvalidBatchError(
            ErrorCode.INVALID_RECORD,
            f"{len(buffer) - header.size} bytes follow the one batch that is allowed",
        )
    return header


def _code_of_fault(buffer: Buffer) -> ErrorCode:
    """What a header that cannot be is answered with: was it damaged, or written so?"""
    if len(buffer) > MAGIC_POSITION and buffer[MAGIC_POSITION] in (0, 1):
        return ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT
    if len(buffer) < HEADER_SIZE or crc32c(memoryview(buffer)[CHECKSUMMED_FROM:]) != (
        int.from_bytes(buffer[CRC_POSITION : CRC_POSITION + 4], "big")
    ):
        return ErrorCode.CORRUPT_MESSAGE
    if buffer[CHECKSUMMED_FROM + 1] & 0x07 > Compression.ZSTD:
        return _NO_SUCH_BYTES
    return ErrorCode.INVALID_RECORD


def _check_size(header: BatchHeader, max_bytes: int | None) -> None:
    if max_bytes is not None and header.size > max_bytes:
        raise InvalidBatchError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"the batch has {header.size} bytes, the topic lets in {max_bytes}",
        )


def _check_header(header: BatchHeader, origin: Origin) -> None:
    """What the header alone can get wrong."""
    why = None
    if (
        header.record_count == header.last_offset_delta + 1 > 0
        and header.attributes & _MORE_THAN_A_CODEC == 0
        and header.producer_id < 0
    ):
        return  # as most are: no promises to check
    if header.record_count < 1:
        why = "a batch without records cannot be appended"
    elif header.record_count != header.last_offset_delta + 1:
        why = (
            f"{header.record_count} records cannot have the last offset delta "
            f"{header.last_offset_delta}"
        )
    elif origin is Origin.CLIENT and header.is_control:
        why = "clients may not write control batches"
    elif header.is_transactional and not header.has_producer_id:
        why = "a transactional batch needs a producer id"
    elif header.has_producer_id and not header.is_control:
        if header.producer_epoch < 0:
            raise InvalidBatchError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"producer id {header.producer_id} has epoch {header.producer_epoch}",
            )
        if header.base_sequence < 0 and origin is Origin.CLIENT:
            why = f"producer id {header.producer_id} has sequence {header.base_sequence}"
    if why is not None:
        raise InvalidBatchError(ErrorCode.INVALID_RECORD, why)


def _scan(
    buffer: Buffer, header: BatchHeader, decompressed_max_bytes: int | None
) -> tuple[Buffer, RecordScan]:
    """The records' bytes, and what a walk over them finds."""
    limit = DECOMPRESSED_BYTES_MAX if decompressed_max_bytes is None else decompressed_max_bytes
    try:
        section = read_section(buffer, 0, header, limit=limit)
    except OversizedBatchError as fault:
        raise InvalidBatchError(ErrorCode.MESSAGE_TOO_LARGE, fault.message) from fault
    except CorruptBatchError as fault:
        raise InvalidBatchError(_NO_SUCH_BYTES, fault.message) from fault
    try:
        return section, implementation.scan_records(section, header.record_count)
    except CorruptBatchError as fault:
        raise InvalidBatchError(ErrorCode.INVALID_RECORD, fault.message) from fault


def _without_key(section: Buffer, header: BatchHeader) -> InvalidRecordsError:
    records = implementation.decode_records(section, header.record_count, 0, 0, 0)
    errors = tuple(
        RecordError(index, "a compacted topic needs a key in every record")
        for index, record in enumerate(records)
        if record.key is None
    )
    return InvalidRecordsError(
        ErrorCode.INVALID_RECORD, f"{len(errors)} records of a compacted topic have no key", errors
    )


def _check_timestamps(
    section: Buffer, header: BatchHeader, scan: RecordScan, bounds: tuple[int, BatchRules]
) -> None:
    """Refuse records from before or after the topic's window around now."""
    now_ms, rules = bounds
    oldest = now_ms - rules.get("before_max_ms", INT64_MAX)
    newest = now_ms + rules.get("after_max_ms", INT64_MAX)
    base = header.base_timestamp
    first, last = base + scan.min_timestamp_delta, base + scan.max_timestamp_delta
    if last > INT64_MAX or first < -INT64_MAX - 1:
        raise InvalidBatchError(
            ErrorCode.INVALID_TIMESTAMP, "a record's timestamp does not fit into 64 bits"
        )
    if first >= oldest and last <= newest:
        return
    records = implementation.decode_records(section, header.record_count, 0, base)
    errors = tuple(
        RecordError(index, f"timestamp {record.timestamp} is not in {oldest}..{newest}")
        for index, record in enumerate(records)
        if record.timestamp != NO_TIMESTAMP and not oldest <= record.timestamp <= newest
    )
    if not errors:
        return
    raise InvalidRecordsError(
        ErrorCode.INVALID_TIMESTAMP,
        f"{len(errors)} records are too far from the broker's time",
        errors,
    )


# --- making a batch fit its topic --------------------------------------------------------------


def needs_recompression(header: BatchHeader, wanted: Compression | None) -> bool:
    """Whether the topic stores another codec than the producer used. None is `producer`: keep."""
    return wanted is not None and header.compression is not wanted


def conform_batch(
    buffer: bytearray | memoryview,
    validated: ValidatedBatch,
    *,
    now_ms: int,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
    compression: Compression | None = None,
    level: int | None = None,
) -> tuple[bytearray | memoryview, BatchHeader]:
    """The batch as the topic stores it, and its header as it is then.

    Recompression makes a new buffer (and takes its time: not on an event loop when the batch is large); log append
    time is written into the buffer itself; else nothing happens.
    """
    header = validated.header
    out = buffer
    if compression is not None and needs_recompression(header, compression):
        out = _recompress(validated, compression, level)
        header = read_header(out)
    if timestamp_type is TimestampType.LOG_APPEND_TIME:
        header = stamp_log_append_time(out, 0, header, now_ms=now_ms)
    elif header.max_timestamp != validated.max_timestamp or header.is_log_append_time:
        out = bytearray(out)
        attributes = header.attributes & ~_LOG_APPEND_TIME
        seal(out, header._replace(attributes=attributes, max_timestamp=validated.max_timestamp))
        header = read_header(out)
    return out, header


def _recompress(
    validated: ValidatedBatch, compression: Compression, level: int | None
) -> bytearray:
    header = validated.header
    out = bytearray(HEADER_SIZE)
    out += compress(compression, validated.section, level)
    attributes = (header.attributes & ~0x07) | compression
    return seal(out, header._replace(attributes=attributes))
