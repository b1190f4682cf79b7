"""ListPartitionReassignments (key 46)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, field, message, structure


@structure
class ListPartitionReassignmentsTopics:
    name: str
    partition_indexes: list[Int32]


@message(key=46, versions=(0, 0), flexible=0)
class ListPartitionReassignmentsRequest:
    """Which partitions are on the move (KIP-455)."""

    timeout_ms: Int32 = field(default=60000)
    topics: list[ListPartitionReassignmentsTopics] | None = field(default=None)


@structure
class OngoingPartitionReassignment:
    partition_index: Int32
    replicas: list[Int32]
    adding_replicas: list[Int32]
    removing_replicas: list[Int32]


@structure
class OngoingTopicReassignment:
    name: str
    partitions: list[OngoingPartitionReassignment]


@message(key=46, versions=(0, 0), flexible=0)
class ListPartitionReassignmentsResponse:
    """Replicas, and those coming and going."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
    topics: list[OngoingTopicReassignment]
