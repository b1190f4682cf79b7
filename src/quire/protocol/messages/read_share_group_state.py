"""ReadShareGroupState (key 84)."""

from __future__ import annotations

from quire.protocol.schema import Int8, Int16, Int32, Int64, Uuid, field, message, structure


@structure
class PartitionData:
    partition: Int32
    leader_epoch: Int32


@structure
class ReadStateData:
    topic_id: Uuid
    partitions: list[PartitionData]


@message(key=84, versions=(0, 0), flexible=0)
class ReadShareGroupStateRequest:
    """Read the share state of partitions (KIP-932)."""

    group_id: str
    topics: list[ReadStateData]


@structure
class StateBatch:
    first_offset: Int64
    last_offset: Int64
    delivery_state: Int8
    delivery_count: Int16


@structure
class PartitionResult:
    partition: Int32
    error_code: Int16
    error_message: str | None = field(default=None)
    state_epoch: Int32
    start_offset: Int64
    state_batches: list[StateBatch]


@structure
class ReadStateResult:
    topic_id: Uuid
    partitions: list[PartitionResult]


@message(key=84, versions=(0, 0), flexible=0)
class ReadShareGroupStateResponse:
    """State batches of each partition."""

    results: list[ReadStateResult]
