"""ListOffsets: an offset by time, or by name.

    -1 the latest: the end that the asker may see     -4 the earliest on the local disk: here, the earliest
    -2 the earliest                                   -5 the latest that is in remote storage: none here
    -3 the one with the largest timestamp             -6 the earliest not uploaded yet: none here

Versions   2 isolation · 4 leader epochs · 7 -3 · 8 -4 · 9 -5 · 10 a timeout · 11 -6

Not here   finding a timestamp in a log (storage.lookup).
See        KIP-79, KIP-207 (what a new leader does not know yet), KIP-405, KIP-734, KIP-1005, KIP-1023
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.reading import READ_COMMITTED
from quire.broker.replica import Replica
from quire.errors import CorruptBatchError, ErrorCode, StorageError
from quire.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from quire.storage.lookup import TimestampedOffset, offset_of_max_timestamp

API: Final = 2
LATEST: Final = -1
EARLIEST: Final = -2
MAX_TIMESTAMP: Final = -3
EARLIEST_LOCAL: Final = -4
LATEST_TIERED: Final = -5
EARLIEST_PENDING_UPLOAD: Final = -6
SINCE: Final = {
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}
"""The versions in which the names came."""
LEADER_EPOCHS_SINCE: Final = 4
READ_UNCOMMITTED: Final = 0
CONSUMER: Final = -1
DEBUGGER: Final = -2
UNKNOWN: Final = -1


def handle(broker: Broker, call: Call) -> ListOffsetsResponse:
    """Answer; see the module."""
    request: ListOffsetsRequest = call.request
    asked: dict[str, list[ListOffsetsPartition]] = {}
    for topic in request.topics:
        asked.setdefault(topic.name, []).extend(topic.partitions)
    return ListOffsetsResponse(
        throttle_time_ms=0,
        topics=[
            ListOffsetsTopicResponse(name=name, partitions=_answers(broker, call, name, partitions))
            for name, partitions in asked.items()
        ],
    )


def _answers(
    broker: Broker, call: Call, topic: str, asked: list[ListOffsetsPartition]
) -> list[ListOffsetsPartitionResponse]:
    if call.request.isolation_level not in (READ_UNCOMMITTED, READ_COMMITTED):
        return [_refused(one, ErrorCode.UNKNOWN_SERVER_ERROR) for one in asked]
    times = Counter(one.partition_index for one in asked)
    answers = []
    for one in {each.partition_index: each for each in asked}.values():
        if times[one.partition_index] > 1:
            answer = _refused(one, ErrorCode.INVALID_REQUEST)
        else:
            answer = _answer(broker, call, topic, one)
        if answer.error_code:
            broker.metrics.failed(API, answer.error_code)
        answers.append(answer)
    return answers


def _answer(
    broker: Broker, call: Call, topic: str, asked: ListOffsetsPartition
) -> ListOffsetsPartitionResponse:
    request: ListOffsetsRequest = call.request
    timestamp = asked.timestamp
    if timestamp < 0 and call.version < SINCE.get(timestamp, 0 if timestamp >= EARLIEST else 99):
        return _refused(asked, ErrorCode.UNSUPPORTED_VERSION)
    replica = broker.replicas.get(topic, asked.partition_index)
    if replica is None:
        return _refused(asked, broker.replicas.why_not(topic, asked.partition_index))
    is_debugger = request.replica_id == DEBUGGER
    check = replica.check_replica if is_debugger else replica.check_leader
    code = check(asked.current_leader_epoch)
    if code is not ErrorCode.NONE:
        return _refused(asked, code)
    is_consumer = request.replica_id == CONSUMER
    try:
        found = _find(replica, timestamp, request.isolation_level, is_consumer=is_consumer)
    except CorruptBatchError:
        return _refused(asked, ErrorCode.CORRUPT_MESSAGE)
    except StorageError:
        return _refused(asked, ErrorCode.KAFKA_STORAGE_ERROR)
    except OSError as error:
        broker.replicas.failed(replica.hosted.log_dir, error)
        return _refused(asked, ErrorCode.KAFKA_STORAGE_ERROR)
    if isinstance(found, ErrorCode):
        return _refused(asked, found)
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        error_code=ErrorCode.NONE,
        timestamp=found.timestamp,
        offset=found.offset,
        leader_epoch=found.leader_epoch if call.version >= LEADER_EPOCHS_SINCE else UNKNOWN,
    )


def _find(
    replica: Replica, timestamp: int, isolation: int, *, is_consumer: bool
) -> TimestampedOffset | ErrorCode:
    log = replica.log
    bound = log.log_end_offset
    if is_consumer:
        bound = log.last_stable_offset if isolation == READ_COMMITTED else log.high_watermark
    leader = replica.leader
    knows_latest = not is_consumer or leader is None or leader.knows_latest(log.high_watermark)
    if timestamp == LATEST:
        if not knows_latest:
            return ErrorCode.OFFSET_NOT_AVAILABLE
        return TimestampedOffset(bound, UNKNOWN, replica.leader_epoch)
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        start = log.log_start_offset
        return TimestampedOffset(start, UNKNOWN, log.leader_epochs.epoch_for(start))
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return TimestampedOffset(UNKNOWN, UNKNOWN, UNKNOWN)
    is_named = timestamp == MAX_TIMESTAMP
    found = offset_of_max_timestamp(log) if is_named else log.offset_for_timestamp(timestamp)
    if found is not None and found.offset < bound:
        return found
    if not knows_latest and found is not None:
        return ErrorCode.OFFSET_NOT_AVAILABLE
    return TimestampedOffset(UNKNOWN, UNKNOWN, UNKNOWN)


def _refused(asked: ListOffsetsPartition, code: ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=code)
