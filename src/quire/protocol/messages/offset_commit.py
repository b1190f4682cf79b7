"""OffsetCommit (key 8)."""

from __future__ import annotations

from quire.protocol.schema import ZERO_UUID, Int16, Int32, Int64, Uuid, field, message, structure


@structure
class OffsetCommitRequestPartition:
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = field(since=6, default=-1, ignorable=True)
    committed_metadata: str | None


@structure
class OffsetCommitRequestTopic:
    name: str = field(until=9, default="", ignorable=True)
    topic_id: Uuid = field(since=10, default=ZERO_UUID, ignorable=True)
    partitions: list[OffsetCommitRequestPartition]


@message(key=8, versions=(2, 10), flexible=8)
class OffsetCommitRequest:
    """Positions of a group, to keep. v6 leader epoch · v7 static members (KIP-345) · v9 member
    epoch (KIP-848) · v10 topic ids.
    """

    group_id: str
    generation_id_or_member_epoch: Int32 = field(default=-1)
    member_id: str
    group_instance_id: str | None = field(since=7, default=None)
    retention_time_ms: Int64 = field(until=4, default=-1, ignorable=True)
    topics: list[OffsetCommitRequestTopic]


@structure
class OffsetCommitResponsePartition:
    partition_index: Int32
    error_code: Int16


@structure
class OffsetCommitResponseTopic:
    name: str = field(until=9, default="", ignorable=True)
    topic_id: Uuid = field(since=10, default=ZERO_UUID, ignorable=True)
    partitions: list[OffsetCommitResponsePartition]


@message(key=8, versions=(2, 10), flexible=8)
class OffsetCommitResponse:
    """An error code for each partition. v3 throttle time · v10 topic ids."""

    throttle_time_ms: Int32 = field(since=3, default=0, ignorable=True)
    topics: list[OffsetCommitResponseTopic]
