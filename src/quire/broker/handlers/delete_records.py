"""DeleteRecords: let partitions begin later; what lies before is served no more, and its segments go.

A partition is answered when all its live replicas begin there, with the smallest of their starts (the low watermark).
The new start is remembered in the checkpoint of log start offsets, when that is written next.

    offset -1     up to the high watermark
    above it      OFFSET_OUT_OF_RANGE

Versions   2 flexible
Not here   which files go (storage.retention), how followers learn of it (their fetches).
See        KIP-107
"""

from __future__ import annotations

from typing import Any, Final

from quire.broker.broker import Broker
from quire.broker.call import LATER, Call
from quire.broker.internal_topics import INTERNAL_TOPICS
from quire.broker.replica import Replica
from quire.errors import ErrorCode, StorageError
from quire.protocol.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

API: Final = 21
HIGH_WATERMARK: Final = -1
NO_WATERMARK: Final = -1


class _Moved:
    """A partition that begins later here, and not yet everywhere."""

    __slots__ = ("offset", "replica", "result")

    def __init__(self, replica: Replica, offset: int, result: DeleteRecordsPartitionResult) -> None:
        self.replica = replica
        self.offset = offset
        self.result = result

    def outcome(self) -> ErrorCode | None:
        """How it ended; None: not yet."""
        replica, result = self.replica, self.result
        if replica.gone is not None or replica.leader is None:
            result.low_watermark = NO_WATERMARK
            return replica.gone or ErrorCode.NOT_LEADER_OR_FOLLOWER
        result.low_watermark = replica.leader.low_watermark(replica.log.log_start_offset)
        return ErrorCode.NONE if result.low_watermark >= self.offset else None


class _Deletion:
    """One request. It is what waits in the purgatory."""

    __slots__ = ("_broker", "_call", "_moved", "_response")

    def __init__(self, broker: Broker, call: Call) -> None:
        self._broker = broker
        self._call = call
        self._moved: list[_Moved] = []
        self._response = DeleteRecordsResponse(throttle_time_ms=0, topics=[])

    def try_complete(self) -> bool:
        self._moved = [one for one in self._moved if not self._has_ended(one)]
        if self._moved:
            return False
        self._call.answer(self._response)
        return True

    def expire(self) -> None:
        for one in self._moved:
            self._end(one.result, ErrorCode.REQUEST_TIMED_OUT)
        self._call.answer(self._response)

    def begin(self) -> Any:
        """Move what is led here: the answer, or LATER while followers have to come after."""
        request: DeleteRecordsRequest = self._call.request
        offsets = {
            (topic.name, one.partition_index): one.offset
            for topic in request.topics
            for one in topic.partitions
        }
        results: dict[str, list[DeleteRecordsPartitionResult]] = {}
        for (name, index), offset in offsets.items():
            results.setdefault(name, []).append(self._delete(name, index, offset))
        self._response.topics = [
            DeleteRecordsTopicResult(name=name, partitions=found) for name, found in results.items()
        ]
        self._moved = [one for one in self._moved if not self._has_ended(one)]
        if not self._moved:
            return self._response
        keys = [*(one.replica.topic_partition for one in self._moved), self._call]
        deadline_ms = self._broker.clock.monotonic_ms() + request.timeout_ms
        self._broker.waiting.delete_records.watch(self, keys, deadline_ms=deadline_ms)
        return LATER

    def _delete(self, name: str, index: int, offset: int) -> DeleteRecordsPartitionResult:
        result = DeleteRecordsPartitionResult(
            partition_index=index, low_watermark=NO_WATERMARK, error_code=ErrorCode.NONE
        )
        replica = self._admit(name, index)
        if isinstance(replica, ErrorCode):
            self._end(result, replica)
            return result
        log = replica.log
        wanted = log.high_watermark if offset == HIGH_WATERMARK else offset
        if not 0 <= wanted <= log.high_watermark:
            self._end(result, ErrorCode.OFFSET_OUT_OF_RANGE)
            return result
        try:
            has_moved = log.advance_log_start_offset(wanted, now_ms=self._broker.clock.wall_ms())
        except StorageError:
            self._end(result, ErrorCode.KAFKA_STORAGE_ERROR)
            return result
        except OSError as error:
            self._broker.replicas.failed(replica.hosted.log_dir, error)
            self._end(result, ErrorCode.KAFKA_STORAGE_ERROR)
            return result
        if has_moved:
            self._broker.replicas.changed(replica)
        self._moved.append(_Moved(replica, wanted, result))
        return result

    def _admit(self, name: str, index: int) -> Replica | ErrorCode:
        replicas = self._broker.replicas
        replica = replicas.get(name, index)
        absent = ErrorCode.NONE if replica is not None else replicas.why_not(name, index)
        if absent is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return absent
        if name in INTERNAL_TOPICS:
            return ErrorCode.INVALID_TOPIC_EXCEPTION
        if replica is None:
            return absent
        if replica.leader is None:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        settings = replica.settings
        if settings.cleanup_policy_compact and not settings.cleanup_policy_delete:
            return ErrorCode.POLICY_VIOLATION
        return replica

    def _has_ended(self, one: _Moved) -> bool:
        code = one.outcome()
        if code is None:
            return False
        self._end(one.result, code)
        return True

    def _end(self, result: DeleteRecordsPartitionResult, code: ErrorCode) -> None:
        result.error_code = code
        if code is not ErrorCode.NONE:
            self._broker.metrics.failed(API, code)


def handle(broker: Broker, call: Call) -> Any:
    """Answer, or wait; see the module."""
    return _Deletion(broker, call).begin()
