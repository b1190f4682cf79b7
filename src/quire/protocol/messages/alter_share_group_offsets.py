"""AlterShareGroupOffsets (key 91)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, Uuid, field, message, structure


@structure
class AlterShareGroupOffsetsRequestPartition:
    partition_index: Int32
    start_offset: Int64


@structure
class AlterShareGroupOffsetsRequestTopic:
    topic_name: str
    partitions: list[AlterShareGroupOffsetsRequestPartition]


@message(key=91, versions=(0, 0), flexible=0)
class AlterShareGroupOffsetsRequest:
    """Move the start offsets of an empty share group (KIP-932)."""

    group_id: str
    topics: list[AlterShareGroupOffsetsRequestTopic]


@structure
class AlterShareGroupOffsetsResponsePartition:
    partition_index: Int32
    error_code: Int16
    error_message: str | None = field(default=None)


@structure
class AlterShareGroupOffsetsResponseTopic:
    topic_name: str
    topic_id: Uuid
    partitions: list[AlterShareGroupOffsetsResponsePartition]


@message(key=91, versions=(0, 0), flexible=0)
class AlterShareGroupOffsetsResponse:
    """What became of each partition."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None = field(default=None)
    responses: list[AlterShareGroupOffsetsResponseTopic]
