"""WriteShareGroupState (key 85)."""

from __future__ import annotations

from quire.protocol.schema import Int8, Int16, Int32, Int64, Uuid, field, message, structure


@structure
class StateBatch:
    first_offset: Int64
    last_offset: Int64
    delivery_state: Int8
    delivery_count: Int16


@structure
class PartitionData:
    partition: Int32
    state_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    delivery_complete_count: Int32 = field(since=1, default=-1, ignorable=True)
    state_batches: list[StateBatch]


@structure
class WriteStateData:
    topic_id: Uuid
    partitions: list[PartitionData]


@message(key=85, versions=(0, 1), flexible=0)
class WriteShareGroupStateRequest:
    """Write the share state of partitions (KIP-932). v1 complete deliveries (KIP-1226)."""

    group_id: str
    topics: list[WriteStateData]


@structure
class PartitionResult:
    partition: Int32
    error_code: Int16
    error_message: str | None = field(default=None)


@structure
class WriteStateResult:
    topic_id: Uuid
    partitions: list[PartitionResult]


@message(key=85, versions=(0, 1), flexible=0)
class WriteShareGroupStateResponse:
    """An error code for each partition."""

    results: list[WriteStateResult]
