"""FetchSnapshot (key 59)."""

from __future__ import annotations

from quire.protocol.schema import (
    ZERO_UUID,
    Int16,
    Int32,
    Int64,
    Records,
    UInt16,
    Uuid,
    field,
    message,
    structure,
)


@structure
class FetchSnapshotRequestSnapshotId:
    end_offset: Int64
    epoch: Int32


@structure
class FetchSnapshotRequestPartitionSnapshot:
    partition: Int32
    current_leader_epoch: Int32
    snapshot_id: FetchSnapshotRequestSnapshotId
    position: Int64
    replica_directory_id: Uuid = field(since=1, tag=0, default=ZERO_UUID, ignorable=True)


@structure
class FetchSnapshotRequestTopicSnapshot:
    name: str
    partitions: list[FetchSnapshotRequestPartitionSnapshot]


@message(key=59, versions=(0, 1), flexible=0)
class FetchSnapshotRequest:
    """A piece of a metadata snapshot (KIP-630). v1 directory id (KIP-853)."""

    cluster_id: str | None = field(tag=0, default=None)
    replica_id: Int32 = field(default=-1)
    max_bytes: Int32 = field(default=0x7FFF_FFFF)
    topics: list[FetchSnapshotRequestTopicSnapshot]


@structure
class FetchSnapshotResponseSnapshotId:
    end_offset: Int64
    epoch: Int32


@structure
class LeaderIdAndEpoch:
    leader_id: Int32 = field(default=0)
    leader_epoch: Int32 = field(default=0)


@structure
class FetchSnapshotResponsePartitionSnapshot:
    index: Int32
    error_code: Int16
    snapshot_id: FetchSnapshotResponseSnapshotId
    current_leader: LeaderIdAndEpoch = field(tag=0, default=LeaderIdAndEpoch)
    size: Int64
    position: Int64
    unaligned_records: Records


@structure
class FetchSnapshotResponseTopicSnapshot:
    name: str
    partitions: list[FetchSnapshotResponsePartitionSnapshot]


@structure
class NodeEndpoint:
    node_id: Int32
    host: str
    port: UInt16


@message(key=59, versions=(0, 1), flexible=0)
class FetchSnapshotResponse:
    """Bytes of the snapshot from a position. v1 endpoints."""

    throttle_time_ms: Int32
    error_code: Int16
    topics: list[FetchSnapshotResponseTopicSnapshot]
    node_endpoints: list[NodeEndpoint] = field(since=1, tag=0, default=[])
