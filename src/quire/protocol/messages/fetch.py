"""Fetch (key 1)."""

from __future__ import annotations

from quire.protocol.schema import (
    ZERO_UUID,
    Int8,
    Int16,
    Int32,
    Int64,
    Records,
    Uuid,
    field,
    message,
    structure,
)


@structure
class ReplicaState:
    replica_id: Int32 = field(default=-1)
    replica_epoch: Int64 = field(default=-1)


@structure
class FetchPartition:
    partition: Int32
    current_leader_epoch: Int32 = field(since=9, default=-1, ignorable=True)
    fetch_offset: Int64
    last_fetched_epoch: Int32 = field(since=12, default=-1)
    log_start_offset: Int64 = field(since=5, default=-1, ignorable=True)
    partition_max_bytes: Int32
    replica_directory_id: Uuid = field(since=17, tag=0, default=ZERO_UUID, ignorable=True)
    high_watermark: Int64 = field(since=18, tag=1, default=0x7FFF_FFFF_FFFF_FFFF, ignorable=True)


@structure
class FetchTopic:
    topic: str = field(until=12, default="", ignorable=True)
    topic_id: Uuid = field(since=13, default=ZERO_UUID, ignorable=True)
    partitions: list[FetchPartition]


@structure
class ForgottenTopic:
    topic: str = field(until=12, default="", ignorable=True)
    topic_id: Uuid = field(since=13, default=ZERO_UUID, ignorable=True)
    partitions: list[Int32]


@message(key=1, versions=(4, 18), flexible=12)
class FetchRequest:
    """Long-poll read. v7 sessions (KIP-227) · v9 leader epoch (KIP-320) · v11 rack (KIP-392) ·
    v12 divergence (KIP-595) · v13 topic ids · v15 replica state (KIP-903) · v17 directory id
    (KIP-853) · v18 high watermark (KIP-1166).
    """

    cluster_id: str | None = field(since=12, tag=0, default=None, ignorable=True)
    replica_id: Int32 = field(until=14, default=-1)
    replica_state: ReplicaState = field(since=15, tag=1, default=ReplicaState)
    max_wait_ms: Int32
    min_bytes: Int32
    max_bytes: Int32 = field(default=0x7FFF_FFFF)
    isolation_level: Int8 = field(default=0)
    session_id: Int32 = field(since=7, default=0, ignorable=True)
    session_epoch: Int32 = field(since=7, default=-1, ignorable=True)
    topics: list[FetchTopic]
    forgotten_topics_data: list[ForgottenTopic] = field(since=7, default=[])
    rack_id: str = field(since=11, default="", ignorable=True)


@structure
class EpochEndOffset:
    epoch: Int32 = field(default=-1)
    end_offset: Int64 = field(default=-1)


@structure
class LeaderIdAndEpoch:
    leader_id: Int32 = field(default=-1)
    leader_epoch: Int32 = field(default=-1)


@structure
class SnapshotId:
    end_offset: Int64 = field(default=-1)
    epoch: Int32 = field(default=-1)


@structure
class AbortedTransaction:
    producer_id: Int64
    first_offset: Int64


@structure
class PartitionData:
    partition_index: Int32
    error_code: Int16
    high_watermark: Int64
    last_stable_offset: Int64 = field(default=-1)
    log_start_offset: Int64 = field(since=5, default=-1, ignorable=True)
    diverging_epoch: EpochEndOffset = field(since=12, tag=0, default=EpochEndOffset)
    current_leader: LeaderIdAndEpoch = field(since=12, tag=1, default=LeaderIdAndEpoch)
    snapshot_id: SnapshotId = field(since=12, tag=2, default=SnapshotId)
    aborted_transactions: list[AbortedTransaction] | None
    preferred_read_replica: Int32 = field(since=11, default=-1)
    records: Records | None


@structure
class FetchableTopicResponse:
    topic: str = field(until=12, default="", ignorable=True)
    topic_id: Uuid = field(since=13, default=ZERO_UUID, ignorable=True)
    partitions: list[PartitionData]


@structure
class NodeEndpoint:
    node_id: Int32
    host: str
    port: Int32
    rack: str | None = field(default=None)


@message(key=1, versions=(4, 18), flexible=12)
class FetchResponse:
    """Record batches per partition. v4 transactions · v7 sessions · v11 preferred replica · v12
    divergence and snapshot · v13 topic ids · v16 node endpoints (KIP-951).
    """

    throttle_time_ms: Int32
    error_code: Int16 = field(since=7, default=0, ignorable=True)
    session_id: Int32 = field(since=7, default=0)
    responses: list[FetchableTopicResponse]
    node_endpoints: list[NodeEndpoint] = field(since=16, tag=0, default=[])
