"""ListOffsets (key 2)."""

from __future__ import annotations

from quire.protocol.schema import Int8, Int16, Int32, Int64, field, message, structure


@structure
class ListOffsetsPartition:
    partition_index: Int32
    current_leader_epoch: Int32 = field(since=4, default=-1, ignorable=True)
    timestamp: Int64


@structure
class ListOffsetsTopic:
    name: str
    partitions: list[ListOffsetsPartition]


@message(key=2, versions=(1, 11), flexible=6)
class ListOffsetsRequest:
    """Offsets by time or by name. v2 isolation · v4 leader epoch · v7 largest time (KIP-734) ·
    v8 local (KIP-405) · v9 tiered · v10 timeout · v11 pending upload (KIP-1023).
    """

    replica_id: Int32
    isolation_level: Int8 = field(since=2, default=0)
    topics: list[ListOffsetsTopic]
    timeout_ms: Int32 = field(since=10, default=0, ignorable=True)


@structure
class ListOffsetsPartitionResponse:
    partition_index: Int32
    error_code: Int16
    timestamp: Int64 = field(default=-1)
    offset: Int64 = field(default=-1)
    leader_epoch: Int32 = field(since=4, default=-1)


@structure
class ListOffsetsTopicResponse:
    name: str
    partitions: list[ListOffsetsPartitionResponse]


@message(key=2, versions=(1, 11), flexible=6)
class ListOffsetsResponse:
    """The offset found for each partition. v4 leader epoch (KIP-320)."""

    throttle_time_ms: Int32 = field(since=2, default=0, ignorable=True)
    topics: list[ListOffsetsTopicResponse]
