"""DescribeShareGroupOffsets (key 90)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, Uuid, field, message, structure


@structure
class DescribeShareGroupOffsetsRequestTopic:
    topic_name: str
    partitions: list[Int32]


@structure
class DescribeShareGroupOffsetsRequestGroup:
    group_id: str
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None


@message(key=90, versions=(0, 1), flexible=0)
class DescribeShareGroupOffsetsRequest:
    """Start offsets of share groups (KIP-932)."""

    groups: list[DescribeShareGroupOffsetsRequestGroup]


@structure
class DescribeShareGroupOffsetsResponsePartition:
    partition_index: Int32
    start_offset: Int64
    leader_epoch: Int32
    lag: Int64 = field(since=1, default=-1, ignorable=True)
    error_code: Int16
    error_message: str | None = field(default=None)


@structure
class DescribeShareGroupOffsetsResponseTopic:
    topic_name: str
    topic_id: Uuid
    partitions: list[DescribeShareGroupOffsetsResponsePartition]


@structure
class DescribeShareGroupOffsetsResponseGroup:
    group_id: str
    topics: list[DescribeShareGroupOffsetsResponseTopic]
    error_code: Int16
    error_message: str | None = field(default=None)


@message(key=90, versions=(0, 1), flexible=0)
class DescribeShareGroupOffsetsResponse:
    """The start offset of each partition. v1 lag (KIP-1226)."""

    throttle_time_ms: Int32
    groups: list[DescribeShareGroupOffsetsResponseGroup]
