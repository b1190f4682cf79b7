"""OffsetFetch (key 9)."""

from __future__ import annotations

from quire.protocol.schema import (
    ZERO_UUID,
    Bool,
    Int16,
    Int32,
    Int64,
    Uuid,
    field,
    message,
    structure,
)


@structure
class OffsetFetchRequestTopic:
    name: str
    partition_indexes: list[Int32]


@structure
class OffsetFetchRequestTopics:
    name: str = field(until=9, default="", ignorable=True)
    topic_id: Uuid = field(since=10, default=ZERO_UUID, ignorable=True)
    partition_indexes: list[Int32]


@structure
class OffsetFetchRequestGroup:
    group_id: str
    member_id: str | None = field(since=9, default=None, ignorable=True)
    member_epoch: Int32 = field(since=9, default=-1, ignorable=True)
    topics: list[OffsetFetchRequestTopics] | None


@message(key=9, versions=(1, 10), flexible=6)
class OffsetFetchRequest:
    """The kept positions of one group; v8 of several (KIP-709) · v7 stable ones only (KIP-447) ·
    v9 member epoch (KIP-848) · v10 topic ids.
    """

    group_id: str = field(until=7, default="")
    topics: list[OffsetFetchRequestTopic] | None = field(until=7, nullable_since=2, default=[])
    groups: list[OffsetFetchRequestGroup] = field(since=8, default=[])
    require_stable: Bool = field(since=7, default=False)


@structure
class OffsetFetchResponsePartition:
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = field(since=5, default=-1, ignorable=True)
    metadata: str | None
    error_code: Int16


@structure
class OffsetFetchResponseTopic:
    name: str
    partitions: list[OffsetFetchResponsePartition]


@structure
class OffsetFetchResponsePartitions:
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = field(default=-1)
    metadata: str | None
    error_code: Int16


@structure
class OffsetFetchResponseTopics:
    name: str = field(until=9, default="", ignorable=True)
    topic_id: Uuid = field(since=10, default=ZERO_UUID, ignorable=True)
    partitions: list[OffsetFetchResponsePartitions]


@structure
class OffsetFetchResponseGroup:
    group_id: str
    topics: list[OffsetFetchResponseTopics]
    error_code: Int16 = field(default=0)


@message(key=9, versions=(1, 10), flexible=6)
class OffsetFetchResponse:
    """Kept positions and their notes. v5 leader epoch · v8 several groups · v10 topic ids."""

    throttle_time_ms: Int32 = field(since=3, default=0, ignorable=True)
    topics: list[OffsetFetchResponseTopic] = field(until=7, default=[])
    error_code: Int16 = field(since=2, until=7, default=0, ignorable=True)
    groups: list[OffsetFetchResponseGroup] = field(since=8, default=[])
