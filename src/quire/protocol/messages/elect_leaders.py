"""ElectLeaders (key 43)."""

from __future__ import annotations

from quire.protocol.schema import Int8, Int16, Int32, field, message, structure


@structure
class TopicPartitions:
    topic: str
    partitions: list[Int32]


@message(key=43, versions=(0, 2), flexible=2)
class ElectLeadersRequest:
    """Elect preferred leaders (KIP-183); v1 unclean ones too (KIP-460)."""

    election_type: Int8 = field(since=1, default=0)
    topic_partitions: list[TopicPartitions] | None
    timeout_ms: Int32 = field(default=60000)


@structure
class PartitionResult:
    partition_id: Int32
    error_code: Int16
    error_message: str | None


@structure
class ReplicaElectionResult:
    topic: str
    partition_result: list[PartitionResult]


@message(key=43, versions=(0, 2), flexible=2)
class ElectLeadersResponse:
    """What became of each partition. v1 top-level error."""

    throttle_time_ms: Int32
    error_code: Int16 = field(since=1, default=0)
    replica_election_results: list[ReplicaElectionResult]
