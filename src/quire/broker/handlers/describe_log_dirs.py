"""DescribeLogDirs: what lies in this broker's log directories, how large it is, and how much room there is.

A replica that is on its way to another directory stands in both: as it is served, and as the copy that comes after it.
The lag of a replica is what its high watermark is ahead of its end; that of a copy, what the replica is ahead of it.

Versions   2 flexible · 3 an error for all · 4 room (KIP-827) · 5 cordoned directories (KIP-1066)
Not here   moving a replica (broker.moves).
See        KIP-113, KIP-827, KIP-1066
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.errors import ErrorCode
from quire.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from quire.storage.log import Log
from quire.storage.log_dir import HostedLog, LogDir
from quire.types import TopicPartition

NO_LAG_KNOWN: Final = -1
LARGEST: Final = 2**63 - 1


def handle(broker: Broker, call: Call) -> DescribeLogDirsResponse:
    """Answer; see the module."""
    request: DescribeLogDirsRequest = call.request
    wanted = None
    if request.topics is not None:
        wanted = {
            TopicPartition(topic.topic, index)
            for topic in request.topics
            for index in topic.partitions
        }
    return DescribeLogDirsResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        results=[_described(broker, each, wanted) for each in broker.log_dirs.log_dirs],
    )


def _described(
    broker: Broker, log_dir: LogDir, wanted: set[TopicPartition] | None
) -> DescribeLogDirsResult:
    offline = DescribeLogDirsResult(
        error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir=log_dir.path, topics=[]
    )
    if log_dir.failure is not None:
        return offline
    try:
        total = log_dir.disk.total_bytes(log_dir.path)
        usable = log_dir.disk.free_bytes(log_dir.path)
    except OSError as error:
        broker.replicas.failed(log_dir, error)
        return offline
    found = [
        *((each, False) for each in log_dir.logs.values()),
        *((each, True) for each in log_dir.futures.values()),
    ]
    return DescribeLogDirsResult(
        error_code=ErrorCode.NONE,
        log_dir=log_dir.path,
        topics=_topics(
            broker,
            [one for one in found if wanted is None or one[0].topic_partition in wanted],
        ),
        total_bytes=min(total, LARGEST),
        usable_bytes=min(usable, LARGEST),
        is_cordoned=broker.layers.settings.is_cordoned(log_dir.path),
    )


def _topics(broker: Broker, found: Iterable[tuple[HostedLog, bool]]) -> list[DescribeLogDirsTopic]:
    topics: dict[str, list[DescribeLogDirsPartition]] = {}
    for hosted, is_future in found:
        log = hosted.log
        assert isinstance(log, Log)
        topic, index = hosted.topic_partition
        topics.setdefault(topic, []).append(
            DescribeLogDirsPartition(
                partition_index=index,
                partition_size=log.segments.total_bytes(),
                offset_lag=_lag(broker, hosted.topic_partition, log, is_future=is_future),
                is_future_key=is_future,
            )
        )
    return [DescribeLogDirsTopic(name=name, partitions=one) for name, one in topics.items()]


def _lag(broker: Broker, key: TopicPartition, log: Log, *, is_future: bool) -> int:
    replica = broker.replicas.get(*key)
    if replica is None:
        return NO_LAG_KNOWN
    if is_future:
        return replica.log.log_end_offset - log.log_end_offset
    return max(replica.log.high_watermark - log.log_end_offset, 0)
