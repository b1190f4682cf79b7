"""DeleteRecords (key 21)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, message, structure


@structure
class DeleteRecordsPartition:
    partition_index: Int32
    offset: Int64


@structure
class DeleteRecordsTopic:
    name: str
    partitions: list[DeleteRecordsPartition]


@message(key=21, versions=(0, 2), flexible=2)
class DeleteRecordsRequest:
    """Move log starts forward (KIP-107)."""

    topics: list[DeleteRecordsTopic]
    timeout_ms: Int32


@structure
class DeleteRecordsPartitionResult:
    partition_index: Int32
    low_watermark: Int64
    error_code: Int16


@structure
class DeleteRecordsTopicResult:
    name: str
    partitions: list[DeleteRecordsPartitionResult]


@message(key=21, versions=(0, 2), flexible=2)
class DeleteRecordsResponse:
    """The new low watermark of each partition."""

    throttle_time_ms: Int32
    topics: list[DeleteRecordsTopicResult]
