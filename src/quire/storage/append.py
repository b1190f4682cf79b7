"""Appending: batches get their offsets, are written in one call, and every state learns of them.

The leader's way stamps offsets and its epoch into the batches in place; the follower's way keeps
what the leader gave. Both roll the active segment before the write when it has no room or is too
old.

Invariants
  I1  One call writes once. When it raises, the log is as it was before: no offset was given, no
      byte stays; if even that cannot be had the log goes offline.
  I2  A batch of a client whose sequence is not the next one never reaches the file.
  I3  The epoch of a batch is in the epoch history before the batch is in the file.
Not here   validation of records (records.validate), who may append (the replication rooms).
See        KIP-98 (idempotence), KIP-101 (epochs)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from quire.errors import CorruptBatchError, StorageError
from quire.ports.disk import Bytes
from quire.records.batch import (
    PREAMBLE_SIZE,
    BatchHeader,
    check_crc,
    iterate_headers,
    read_header,
    stamp,
    stamp_known,
)
from quire.storage.log_state import LogState
from quire.storage.producer_state import Accept, Duplicate, Reject
from quire.storage.replay import track
from quire.storage.rolling import must_roll, roll

Headers: TypeAlias = Sequence[tuple[int, BatchHeader]]


class UnexpectedOffsetError(StorageError):
    """A follower was given batches that start below its log end, or do not ascend."""


class AppendInfo(NamedTuple):
    """What an append did."""

    first_offset: int
    last_offset: int
    max_timestamp: int
    size: int
    rolled: bool
    """A segment was sealed: its files wait to be flushed."""


Outcome: TypeAlias = AppendInfo | Duplicate | Reject


def append_as_leader(
    log: LogState,
    buffer: bytearray | memoryview,
    *,
    header: BatchHeader | None,
    leader_epoch: int,
    now_ms: int,
    from_client: bool,
    requires_sequence_zero: bool,
) -> Outcome:
    """Give the validated batches in `buffer` the next offsets and write them."""
    if log.failure is not None:
        log.fail_if_offline()
    next_offset = log.log_end_offset
    position, size = 0, len(buffer)
    headers: list[tuple[int, BatchHeader]] = []
    if header is not None:
        assert header.batch_length + PREAMBLE_SIZE == size
        headers.append(
            (0, stamp_known(buffer, header, base_offset=next_offset, leader_epoch=leader_epoch))
        )
    else:
        while position < size:
            stamp(buffer, position, base_offset=next_offset, leader_epoch=leader_epoch)
            header = read_header(buffer, position)
            headers.append((position, header))
            position += header.size
            next_offset = header.next_offset
        if position != size or not headers:
            message = f"{size} bytes to append are not whole batches"
            raise CorruptBatchError(message, position=size)
    if from_client:
        for _, one in headers:
            if one.producer_id >= 0:
                verdict = log.producers.check(
                    one, from_client=True, requires_sequence_zero=requires_sequence_zero
                )
                if not isinstance(verdict, Accept):
                    return verdict
    return _write(log, buffer, headers, now_ms=now_ms)


def append_as_follower(log: LogState, buffer: Bytes, *, now_ms: int) -> AppendInfo | None:
    """Write batches as the leader sent them; a part of a batch at the end is left out.

    None when there is no whole batch. CorruptBatchError for a wrong checksum.
    """
    log.fail_if_offline()
    headers = list(iterate_headers(buffer))
    if not headers:
        return None
    expected_offset = log.log_end_offset
    for position, header in headers:
        if header.base_offset < expected_offset:
            raise UnexpectedOffsetError(
                f"{log.directory}: offset {header.base_offset} was fetched,"
                f" {expected_offset} or more is due"
            )
        if not check_crc(buffer, position, header):
            message = f"the fetched batch at offset {header.base_offset} has a wrong checksum"
            raise CorruptBatchError(message, position=position)
        expected_offset = header.next_offset
    position, header = headers[-1]
    end = position + header.size
    whole = buffer if end == len(buffer) else memoryview(buffer)[:end]
    return _write(log, whole, headers, now_ms=now_ms)


def _write(log: LogState, buffer: Bytes, headers: Headers, *, now_ms: int) -> AppendInfo:
    first, last = headers[0][1], headers[-1][1]
    last_offset = last.base_offset + last.last_offset_delta
    max_timestamp = first.max_timestamp
    if last is not first:
        max_timestamp = max(header.max_timestamp for _, header in headers)
    size = len(buffer)
    rolled = must_roll(log, size, max_timestamp, last_offset, now_ms) and roll(
        log, now_ms=now_ms, base_offset=first.base_offset
    )
    if last.partition_leader_epoch > log.leader_epochs.latest_epoch:
        _assign_epochs(log, headers)
    segment = log.segments.active
    try:
        segment.append((buffer,), headers)
    except OSError as error:
        if segment.is_torn:
            log.failure = error
        raise
    log.log_end_offset = last_offset + 1
    _track(log, buffer, headers)
    return AppendInfo(first.base_offset, last_offset, max_timestamp, size, rolled)


def _assign_epochs(log: LogState, headers: Headers) -> None:
    """Every epoch that is new begins at the first batch that carries it (I3)."""
    for _, header in headers:
        if header.partition_leader_epoch > log.leader_epochs.latest_epoch:
            log.leader_epochs.assign(header.partition_leader_epoch, header.base_offset)


def _track(log: LogState, buffer: Bytes, headers: Headers) -> None:
    producers = log.producers
    for position, header in headers:
        if header.producer_id >= 0:
            aborted = track(producers, header, buffer, position)
            if aborted is not None:
                log.segments.active.transaction_index.append(aborted)
    producers.end_offset = log.log_end_offset
