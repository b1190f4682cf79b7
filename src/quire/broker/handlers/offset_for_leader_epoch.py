"""OffsetForLeaderEpoch: where did the records of a leader epoch end?

The answer is the largest epoch known that is not above the one asked for, and the end of it: the start of the next one,
or the log's end. It is not bounded by the high watermark.

Versions   2 the lowest · 3 who asks, which makes no difference: only the leader answers · 4 flexible

Not here   the history of epochs (storage.leader_epochs).
See        KIP-101, KIP-320
"""

from __future__ import annotations

from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.errors import ErrorCode
from quire.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)

API: Final = 23


def handle(broker: Broker, call: Call) -> OffsetForLeaderEpochResponse:
    """Answer; see the module."""
    request: OffsetForLeaderEpochRequest = call.request
    return OffsetForLeaderEpochResponse(
        throttle_time_ms=0,
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[_end_of(broker, topic.topic, one) for one in topic.partitions],
            )
            for topic in request.topics
        ],
    )


def _end_of(broker: Broker, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    replica = broker.replicas.get(topic, asked.partition)
    if replica is None:
        code = broker.replicas.why_not(topic, asked.partition)
    else:
        code = replica.check_leader(asked.current_leader_epoch)
    if replica is None or code is not ErrorCode.NONE:
        broker.metrics.failed(API, code)
        return EpochEndOffset(error_code=code, partition=asked.partition)
    end = replica.log.end_offset_for_epoch(asked.leader_epoch)
    return EpochEndOffset(
        error_code=ErrorCode.NONE,
        partition=asked.partition,
        leader_epoch=end.epoch,
        end_offset=end.end_offset,
    )
