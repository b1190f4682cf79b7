"""From the bytes of one produced batch to its place in a log: checks, the form that the topic stores, the append.

    check_form     what the request may hold at all (no replica is asked)
    make_fit       validation, and the topic's timestamps and compression: pure work, done anywhere
    write          the append, and what its producer is told

Invariants
  I1  A refused batch leaves no trace in any log; its answer names the code, and the records at fault.
  I2  What is heavy (compressed and large, or to be compressed anew) is known by the header alone.
Not here   who leads and how many are in sync (replication.leader), who waits (handlers.produce), the rules (records).
See        KIP-467 (record errors), KIP-98 (duplicates), KIP-890
"""

from __future__ import annotations

from typing import Final

from quire.broker.broker import Broker
from quire.broker.metrics import TopicFigures
from quire.broker.replica import Replica
from quire.errors import ErrorCode, InvalidBatchError, StorageError
from quire.ports.disk import Bytes
from quire.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    PartitionProduceResponse,
)
from quire.records.batch import HEADER_SIZE, BatchHeader
from quire.records.compression import Compression
from quire.records.validate import (
    InvalidRecordsError,
    TimestampType,
    admit_batch,
    conform_batch,
    validate_batch,
)
from quire.storage.append import AppendInfo
from quire.storage.producer_state import Duplicate

OK: Final = ErrorCode.NONE
UNKNOWN_OFFSET: Final = -1
NO_TIMESTAMP: Final = -1
ZSTD_SINCE_VERSION: Final = 7
HEAVY_BYTES: Final = 128 << 10
"""A compressed batch from this size on is unpacked in the background."""
RECORD_ERRORS_SHOWN: Final = 3

_NO_LEADER_TOLD: Final = LeaderIdAndEpoch()
"""What most answers say; shared, and never written into."""
_MAGIC_AT: Final = 16
_ATTRIBUTES_AT: Final = 22
_CODEC: Final = 0x07
_LOG_APPEND_TIME: Final = 0x08
_TRANSACTIONAL: Final = 0x10
_SIZE_FIELDS: Final = 12
_SMALLEST_LENGTH: Final = 14
"""Of an entry of the oldest format."""
_NOT_FROM_ZERO: Final = InvalidBatchError(
    ErrorCode.INVALID_RECORD, "the offsets of a produced batch must begin with 0"
)


def check_form(records: Bytes | None, version: int) -> tuple[ErrorCode, int]:
    """What a request may not hold, whatever the topic (no batch, more than one, another format, an early zstd); the
    bytes of its one batch. What follows it and is not a whole batch does not count.
    """
    code, end = _entry(records, 0)
    if records is None or code is not OK:
        return code, 0
    if records[_MAGIC_AT] != 2 or end < HEADER_SIZE:
        return ErrorCode.INVALID_RECORD, 0
    codec = records[_ATTRIBUTES_AT] & _CODEC
    if version < ZSTD_SINCE_VERSION and codec >= Compression.ZSTD:
        if codec > Compression.ZSTD:
            return ErrorCode.UNKNOWN_SERVER_ERROR, 0
        return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, 0
    if end < len(records):
        code, _ = _entry(records, end)
        if code is OK:
            return ErrorCode.INVALID_RECORD, 0
        if code is ErrorCode.CORRUPT_MESSAGE:
            return code, 0
    return OK, end


def _entry(records: Bytes | None, start: int) -> tuple[ErrorCode, int]:
    """Where the entry at `start`, of any format, ends; INVALID_RECORD when there is no whole one."""
    left = 0 if records is None else len(records) - start
    if records is None or left < _SIZE_FIELDS:
        return ErrorCode.INVALID_RECORD, 0
    length = int.from_bytes(records[start + 8 : start + 12], "big", signed=True)
    if length < _SMALLEST_LENGTH:
        return ErrorCode.CORRUPT_MESSAGE, 0
    if left <= _MAGIC_AT:
        return ErrorCode.INVALID_RECORD, 0
    if records[start + _MAGIC_AT] > 2:
        return ErrorCode.CORRUPT_MESSAGE, 0
    if length + _SIZE_FIELDS > left:
        return ErrorCode.INVALID_RECORD, 0
    return OK, start + length + _SIZE_FIELDS


def without_rest(records: Bytes) -> Bytes:
    """The one batch of a request that has passed `check_form`."""
    size = int.from_bytes(records[8:12], "big") + _SIZE_FIELDS
    return records if size == len(records) else memoryview(records)[:size]


def is_transactional(records: Bytes | None) -> bool:
    """Whether a whole batch claims to belong to a transaction."""
    return (
        records is not None
        and len(records) >= HEADER_SIZE
        and bool(records[_ATTRIBUTES_AT] & _TRANSACTIONAL)
        and _entry(records, 0)[1] >= HEADER_SIZE
    )


def is_heavy(records: Bytes, wanted: Compression | None) -> bool:
    """Whether to make it fit in the background (I2)."""
    codec = records[_ATTRIBUTES_AT] & _CODEC
    if wanted is not None and codec != wanted:
        return True
    return codec != Compression.NONE and len(records) >= HEAVY_BYTES


def make_fit(
    replica: Replica, buffer: bytearray | memoryview, now_ms: int
) -> Fit | InvalidBatchError:
    """The batch as the topic stores it, or why it is refused."""
    if replica.admission is not None:
        admitted = admit_batch(buffer, replica.admission, now_ms)
        if admitted is not None:
            return buffer, admitted
    if any(buffer[0:8]):
        return _NOT_FROM_ZERO
    try:
        validated = validate_batch(buffer, now_ms=now_ms, **replica.rules)
        header = validated.header
        if (
            replica.compression is None
            and replica.timestamp_type is TimestampType.CREATE_TIME
            and header.max_timestamp == validated.max_timestamp
            and not header.attributes & _LOG_APPEND_TIME
        ):
            return buffer, header
        return conform_batch(
            buffer,
            validated,
            now_ms=now_ms,
            timestamp_type=replica.timestamp_type,
            compression=replica.compression,
            level=replica.compression_level,
        )
    except InvalidBatchError as refusal:
        return refusal


Fit = tuple[bytearray | memoryview, BatchHeader]


def write(
    broker: Broker,
    replica: Replica,
    index: int,
    fit: Fit,
    *,
    now_ms: int,
    monotonic_ms: int,
    requires_sequence_zero: bool = False,
) -> PartitionProduceResponse:
    """Append, and say where."""
    buffer, header = fit
    size = header.batch_length + _SIZE_FIELDS
    log = replica.log
    if size > log.settings.segment_bytes:
        return rejected(broker, replica, index, ErrorCode.RECORD_LIST_TOO_LARGE, size)
    try:
        outcome = broker.replicas.append(
            replica,
            buffer,
            header=header,
            now_ms=now_ms,
            monotonic_ms=monotonic_ms,
            requires_sequence_zero=requires_sequence_zero,
        )
    except StorageError:
        return rejected(broker, replica, index, ErrorCode.KAFKA_STORAGE_ERROR, size)
    if outcome.__class__ is AppendInfo:
        figures: TopicFigures = replica.figures
        all_figures = broker.metrics.all_topics
        figures.bytes_in += size
        all_figures.bytes_in += size
        figures.messages_in += header.record_count
        all_figures.messages_in += header.record_count
        is_stamped = replica.timestamp_type is TimestampType.LOG_APPEND_TIME
        return PartitionProduceResponse(
            index=index,
            error_code=OK,
            base_offset=outcome.first_offset,
            log_append_time_ms=now_ms if is_stamped else NO_TIMESTAMP,
            log_start_offset=log.log_start_offset,
            current_leader=_NO_LEADER_TOLD,
        )
    if isinstance(outcome, Duplicate):
        return PartitionProduceResponse(
            index=index,
            error_code=OK,
            base_offset=outcome.base_offset,
            log_append_time_ms=outcome.timestamp,
            log_start_offset=log.log_start_offset,
        )
    assert not isinstance(outcome, AppendInfo)
    replica.figures.invalid_offsets_or_sequences += 1
    broker.metrics.all_topics.invalid_offsets_or_sequences += 1
    return rejected(broker, replica, index, outcome.code, size, knows_start=True)


def refused(
    broker: Broker, replica: Replica, index: int, refusal: InvalidBatchError, size: int
) -> PartitionProduceResponse:
    """The answer to a batch that does not pass its checks."""
    for figures in (replica.figures, broker.metrics.all_topics):
        if refusal.code is ErrorCode.CORRUPT_MESSAGE:
            figures.invalid_checksums += 1
        elif refusal.code is ErrorCode.INVALID_RECORD and replica.rules.get("compacted"):
            figures.no_key_in_compacted += 1
    knows_start = refusal.code not in _WITHOUT_START
    response = rejected(broker, replica, index, refusal.code, size, knows_start=knows_start)
    if isinstance(refusal, InvalidRecordsError):
        response.record_errors = [
            BatchIndexAndErrorMessage(
                batch_index=one.batch_index, batch_index_error_message=one.message
            )
            for one in refusal.record_errors
        ]
        response.error_message = refusal.message
    return response


def rejected(
    broker: Broker,
    replica: Replica | None,
    index: int,
    code: ErrorCode,
    size: int = 0,
    *,
    knows_start: bool = False,
    text: str | None = None,
) -> PartitionProduceResponse:
    """An answer that says no, and the counters of it."""
    own = () if replica is None else (replica.figures,)
    for figures in (broker.metrics.all_topics, *own):
        figures.failed_produces += 1
        figures.bytes_rejected += size
    broker.metrics.failed(0, code)
    start = replica.log.log_start_offset if replica is not None and knows_start else UNKNOWN_OFFSET
    return PartitionProduceResponse(
        index=index,
        error_code=code,
        base_offset=UNKNOWN_OFFSET,
        log_start_offset=start,
        error_message=text,
    )


_WITHOUT_START: Final = (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.CORRUPT_MESSAGE)
