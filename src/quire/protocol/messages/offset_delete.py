"""OffsetDelete (key 47)."""

from __future__ import annotations

from quire.protocol.schema import NEVER, Int16, Int32, message, structure


@structure
class OffsetDeleteRequestPartition:
    partition_index: Int32


@structure
class OffsetDeleteRequestTopic:
    name: str
    partitions: list[OffsetDeleteRequestPartition]


@message(key=47, versions=(0, 0), flexible=NEVER)
class OffsetDeleteRequest:
    """Forget a group's positions (KIP-496); never flexible."""

    group_id: str
    topics: list[OffsetDeleteRequestTopic]


@structure
class OffsetDeleteResponsePartition:
    partition_index: Int32
    error_code: Int16


@structure
class OffsetDeleteResponseTopic:
    name: str
    partitions: list[OffsetDeleteResponsePartition]


@message(key=47, versions=(0, 0), flexible=NEVER)
class OffsetDeleteResponse:
    """An error code for each partition."""

    error_code: Int16
    throttle_time_ms: Int32
    topics: list[OffsetDeleteResponseTopic]
