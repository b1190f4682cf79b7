"""DeleteShareGroupState (key 86)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Uuid, field, message, structure


@structure
class PartitionData:
    partition: Int32


@structure
class DeleteStateData:
    topic_id: Uuid
    partitions: list[PartitionData]


@message(key=86, versions=(0, 0), flexible=0)
class DeleteShareGroupStateRequest:
    """Forget the share state of partitions (KIP-932)."""

    group_id: str
    topics: list[DeleteStateData]


@structure
class PartitionResult:
    partition: Int32
    error_code: Int16
    error_message: str | None = field(default=None)


@structure
class DeleteStateResult:
    topic_id: Uuid
    partitions: list[PartitionResult]


@message(key=86, versions=(0, 0), flexible=0)
class DeleteShareGroupStateResponse:
    """An error code for each partition."""

    results: list[DeleteStateResult]
