"""OffsetForLeaderEpoch (key 23)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, field, message, structure


@structure
class OffsetForLeaderPartition:
    partition: Int32
    current_leader_epoch: Int32 = field(default=-1)
    leader_epoch: Int32


@structure
class OffsetForLeaderTopic:
    topic: str
    partitions: list[OffsetForLeaderPartition]


@message(key=23, versions=(2, 4), flexible=4)
class OffsetForLeaderEpochRequest:
    """Where did this leader epoch end? (KIP-320) v3 replica id."""

    replica_id: Int32 = field(since=3, default=-2, ignorable=True)
    topics: list[OffsetForLeaderTopic]


@structure
class EpochEndOffset:
    error_code: Int16
    partition: Int32
    leader_epoch: Int32 = field(default=-1)
    end_offset: Int64 = field(default=-1)


@structure
class OffsetForLeaderTopicResult:
    topic: str
    partitions: list[EpochEndOffset]


@message(key=23, versions=(2, 4), flexible=4)
class OffsetForLeaderEpochResponse:
    """The end offset of each epoch asked for."""

    throttle_time_ms: Int32
    topics: list[OffsetForLeaderTopicResult]
