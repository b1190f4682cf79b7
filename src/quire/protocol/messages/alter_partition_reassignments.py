"""AlterPartitionReassignments (key 45)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int16, Int32, field, message, structure


@structure
class ReassignablePartition:
    partition_index: Int32
    replicas: list[Int32] | None = field(default=None)


@structure
class ReassignableTopic:
    name: str
    partitions: list[ReassignablePartition]


@message(key=45, versions=(0, 1), flexible=0)
class AlterPartitionReassignmentsRequest:
    """Move partitions to other replicas, or cancel that (KIP-455). v1 fixed replica counts
    (KIP-860).
    """

    timeout_ms: Int32 = field(default=60000)
    allow_replication_factor_change: Bool = field(since=1, default=True)
    topics: list[ReassignableTopic]


@structure
class ReassignablePartitionResponse:
    partition_index: Int32
    error_code: Int16
    error_message: str | None


@structure
class ReassignableTopicResponse:
    name: str
    partitions: list[ReassignablePartitionResponse]


@message(key=45, versions=(0, 1), flexible=0)
class AlterPartitionReassignmentsResponse:
    """What became of each partition. v1 echoes the choice (KIP-860)."""

    throttle_time_ms: Int32
    allow_replication_factor_change: Bool = field(since=1, default=True, ignorable=True)
    error_code: Int16
    error_message: str | None
    responses: list[ReassignableTopicResponse]
