"""BeginQuorumEpoch (key 53)."""

from __future__ import annotations

from quire.protocol.schema import ZERO_UUID, Int16, Int32, UInt16, Uuid, field, message, structure


@structure
class BeginQuorumEpochRequestPartitionData:
    partition_index: Int32
    voter_directory_id: Uuid = field(since=1, default=ZERO_UUID, ignorable=True)
    leader_id: Int32
    leader_epoch: Int32


@structure
class BeginQuorumEpochRequestTopicData:
    topic_name: str
    partitions: list[BeginQuorumEpochRequestPartitionData]


@structure
class LeaderEndpoint:
    name: str
    host: str
    port: UInt16


@message(key=53, versions=(0, 1), flexible=1)
class BeginQuorumEpochRequest:
    """A new leader tells the voters (KIP-595). v1 voter keys and endpoints (KIP-853)."""

    cluster_id: str | None = field(default=None)
    voter_id: Int32 = field(since=1, default=-1, ignorable=True)
    topics: list[BeginQuorumEpochRequestTopicData]
    leader_endpoints: list[LeaderEndpoint] = field(since=1, default=[], ignorable=True)


@structure
class BeginQuorumEpochResponsePartitionData:
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32


@structure
class BeginQuorumEpochResponseTopicData:
    topic_name: str
    partitions: list[BeginQuorumEpochResponsePartitionData]


@structure
class NodeEndpoint:
    node_id: Int32
    host: str
    port: UInt16


@message(key=53, versions=(0, 1), flexible=1)
class BeginQuorumEpochResponse:
    """The leader and epoch the voter sees. v1 endpoints."""

    error_code: Int16
    topics: list[BeginQuorumEpochResponseTopicData]
    node_endpoints: list[NodeEndpoint] = field(since=1, tag=0, default=[])
