"""InitializeShareGroupState (key 83)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, Uuid, field, message, structure


@structure
class PartitionData:
    partition: Int32
    state_epoch: Int32
    start_offset: Int64


@structure
class InitializeStateData:
    topic_id: Uuid
    partitions: list[PartitionData]


@message(key=83, versions=(0, 0), flexible=0)
class InitializeShareGroupStateRequest:
    """Start the share state of partitions (KIP-932)."""

    group_id: str
    topics: list[InitializeStateData]


@structure
class PartitionResult:
    partition: Int32
    error_code: Int16
    error_message: str | None = field(default=None)


@structure
class InitializeStateResult:
    topic_id: Uuid
    partitions: list[PartitionResult]


@message(key=83, versions=(0, 0), flexible=0)
class InitializeShareGroupStateResponse:
    """An error code for each partition."""

    results: list[InitializeStateResult]
