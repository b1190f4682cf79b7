"""Vote (key 52)."""

from __future__ import annotations

from quire.protocol.schema import (
    ZERO_UUID,
    Bool,
    Int16,
    Int32,
    Int64,
    UInt16,
    Uuid,
    field,
    message,
    structure,
)


@structure
class VoteRequestPartitionData:
    partition_index: Int32
    replica_epoch: Int32
    replica_id: Int32
    replica_directory_id: Uuid = field(since=1, default=ZERO_UUID, ignorable=True)
    voter_directory_id: Uuid = field(since=1, default=ZERO_UUID, ignorable=True)
    last_offset_epoch: Int32
    last_offset: Int64
    pre_vote: Bool = field(since=2, default=False)


@structure
class VoteRequestTopicData:
    topic_name: str
    partitions: list[VoteRequestPartitionData]


@message(key=52, versions=(0, 2), flexible=0)
class VoteRequest:
    """A candidate asks for votes (KIP-595). v1 voter keys (KIP-853) · v2 pre-votes (KIP-996)."""

    cluster_id: str | None = field(default=None)
    voter_id: Int32 = field(since=1, default=-1, ignorable=True)
    topics: list[VoteRequestTopicData]


@structure
class VoteResponsePartitionData:
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32
    vote_granted: Bool


@structure
class VoteResponseTopicData:
    topic_name: str
    partitions: list[VoteResponsePartitionData]


@structure
class NodeEndpoint:
    node_id: Int32
    host: str
    port: UInt16


@message(key=52, versions=(0, 2), flexible=0)
class VoteResponse:
    """Granted or not, and who leads as far as we know. v1 endpoints (KIP-853)."""

    error_code: Int16
    topics: list[VoteResponseTopicData]
    node_endpoints: list[NodeEndpoint] = field(since=1, tag=0, default=[])
