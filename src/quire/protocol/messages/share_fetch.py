"""ShareFetch (key 78)."""

from __future__ import annotations

from quire.protocol.schema import (
    Bool,
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
class AcknowledgementBatch:
    first_offset: Int64
    last_offset: Int64
    acknowledge_types: list[Int8]


@structure
class FetchPartition:
    partition_index: Int32
    acknowledgement_batches: list[AcknowledgementBatch]


@structure
class FetchTopic:
    topic_id: Uuid
    partitions: list[FetchPartition]


@structure
class ForgottenTopic:
    topic_id: Uuid
    partitions: list[Int32]


@message(key=78, versions=(1, 2), flexible=0)
class ShareFetchRequest:
    """Acquire records of a share group, and settle earlier ones (KIP-932). v2 acquire mode and
    renewal (KIP-1206, KIP-1222).
    """

    group_id: str | None = field(default=None)
    member_id: str | None
    share_session_epoch: Int32
    max_wait_ms: Int32
    min_bytes: Int32
    max_bytes: Int32 = field(default=0x7FFF_FFFF)
    max_records: Int32
    batch_size: Int32
    share_acquire_mode: Int8 = field(since=2, default=0, ignorable=True)
    is_renew_ack: Bool = field(since=2, default=False)
    topics: list[FetchTopic]
    forgotten_topics_data: list[ForgottenTopic]


@structure
class LeaderIdAndEpoch:
    leader_id: Int32
    leader_epoch: Int32


@structure
class AcquiredRecords:
    first_offset: Int64
    last_offset: Int64
    delivery_count: Int16


@structure
class PartitionData:
    partition_index: Int32
    error_code: Int16
    error_message: str | None = field(default=None)
    acknowledge_error_code: Int16
    acknowledge_error_message: str | None = field(default=None)
    current_leader: LeaderIdAndEpoch
    records: Records
    acquired_records: list[AcquiredRecords]


@structure
class ShareFetchableTopicResponse:
    topic_id: Uuid
    partitions: list[PartitionData]


@structure
class NodeEndpoint:
    node_id: Int32
    host: str
    port: Int32
    rack: str | None = field(default=None)


@message(key=78, versions=(1, 2), flexible=0)
class ShareFetchResponse:
    """Records, and which of them were acquired."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None = field(default=None)
    acquisition_lock_timeout_ms: Int32
    responses: list[ShareFetchableTopicResponse]
    node_endpoints: list[NodeEndpoint]
