"""ReadShareGroupStateSummary (key 87)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, Uuid, field, message, structure


@structure
class PartitionData:
    partition: Int32
    leader_epoch: Int32


@structure
class ReadStateSummaryData:
    topic_id: Uuid
    partitions: list[PartitionData]


@message(key=87, versions=(0, 1), flexible=0)
class ReadShareGroupStateSummaryRequest:
    """Read the start offsets of share partitions (KIP-932)."""

    group_id: str
    topics: list[ReadStateSummaryData]


@structure
class PartitionResult:
    partition: Int32
    error_code: Int16
    error_message: str | None = field(default=None)
    state_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    delivery_complete_count: Int32 = field(since=1, default=-1, ignorable=True)


@structure
class ReadStateSummaryResult:
    topic_id: Uuid
    partitions: list[PartitionResult]


@message(key=87, versions=(0, 1), flexible=0)
class ReadShareGroupStateSummaryResponse:
    """Start offset and epochs of each partition. v1 complete deliveries (KIP-1226)."""

    results: list[ReadStateSummaryResult]
