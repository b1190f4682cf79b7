"""EndQuorumEpoch (key 54)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, UInt16, Uuid, field, message, structure


@structure
class ReplicaInfo:
    candidate_id: Int32
    candidate_directory_id: Uuid


@structure
class EndQuorumEpochRequestPartitionData:
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32
    preferred_successors: list[Int32] = field(until=0, default=[], ignorable=True)
    preferred_candidates: list[ReplicaInfo] = field(since=1, default=[], ignorable=True)


@structure
class EndQuorumEpochRequestTopicData:
    topic_name: str
    partitions: list[EndQuorumEpochRequestPartitionData]


@structure
class LeaderEndpoint:
    name: str
    host: str
    port: UInt16


@message(key=54, versions=(0, 1), flexible=1)
class EndQuorumEpochRequest:
    """A leader resigns and proposes successors (KIP-595). v1 voter keys (KIP-853)."""

    cluster_id: str | None = field(default=None)
    topics: list[EndQuorumEpochRequestTopicData]
    leader_endpoints: list[LeaderEndpoint] = field(since=1, default=[], ignorable=True)


@structure
class EndQuorumEpochResponsePartitionData:
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32


@structure
class EndQuorumEpochResponseTopicData:
    topic_name: str
    partitions: list[EndQuorumEpochResponsePartitionData]


@structure
class NodeEndpoint:
    node_id: Int32
    host: str
    port: UInt16


@message(key=54, versions=(0, 1), flexible=1)
class EndQuorumEpochResponse:
    """The leader and epoch the voter sees. v1 endpoints."""

    error_code: Int16
    topics: list[EndQuorumEpochResponseTopicData]
    node_endpoints: list[NodeEndpoint] = field(since=1, tag=0, default=[])
