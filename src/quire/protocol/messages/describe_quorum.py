"""DescribeQuorum (key 55)."""

from __future__ import annotations

from quire.protocol.schema import (
    ZERO_UUID,
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
class DescribeQuorumRequestPartitionData:
    partition_index: Int32


@structure
class DescribeQuorumRequestTopicData:
    topic_name: str
    partitions: list[DescribeQuorumRequestPartitionData]


@message(key=55, versions=(0, 2), flexible=0)
class DescribeQuorumRequest:
    """The state of the metadata quorum (KIP-595)."""

    topics: list[DescribeQuorumRequestTopicData]


@structure
class ReplicaState:
    replica_id: Int32
    replica_directory_id: Uuid = field(since=2, default=ZERO_UUID)
    log_end_offset: Int64
    last_fetch_timestamp: Int64 = field(since=1, default=-1, ignorable=True)
    last_caught_up_timestamp: Int64 = field(since=1, default=-1, ignorable=True)


@structure
class DescribeQuorumResponsePartitionData:
    partition_index: Int32
    error_code: Int16
    error_message: str | None = field(since=2, default="", ignorable=True)
    leader_id: Int32
    leader_epoch: Int32
    high_watermark: Int64
    current_voters: list[ReplicaState]
    observers: list[ReplicaState]


@structure
class DescribeQuorumResponseTopicData:
    topic_name: str
    partitions: list[DescribeQuorumResponsePartitionData]


@structure
class Listener:
    name: str
    host: str
    port: UInt16


@structure
class Node:
    node_id: Int32
    listeners: list[Listener]


@message(key=55, versions=(0, 2), flexible=0)
class DescribeQuorumResponse:
    """Leader, voters, observers and their ends. v1 times of fetches (KIP-836) · v2 directory ids
    and listeners (KIP-853).
    """

    error_code: Int16
    error_message: str | None = field(since=2, default="", ignorable=True)
    topics: list[DescribeQuorumResponseTopicData]
    nodes: list[Node] = field(since=2, default=[])
