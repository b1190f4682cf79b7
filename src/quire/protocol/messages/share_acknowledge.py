"""ShareAcknowledge (key 79)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int8, Int16, Int32, Int64, Uuid, field, message, structure


@structure
class AcknowledgementBatch:
    first_offset: Int64
    last_offset: Int64
    acknowledge_types: list[Int8]


@structure
class AcknowledgePartition:
    partition_index: Int32
    acknowledgement_batches: list[AcknowledgementBatch]


@structure
class AcknowledgeTopic:
    topic_id: Uuid
    partitions: list[AcknowledgePartition]


@message(key=79, versions=(1, 2), flexible=0)
class ShareAcknowledgeRequest:
    """Accept, release, reject acquired records (KIP-932). v2 renew (KIP-1222)."""

    group_id: str | None = field(default=None)
    member_id: str | None
    share_session_epoch: Int32
    is_renew_ack: Bool = field(since=2, default=False)
    topics: list[AcknowledgeTopic]


@structure
class LeaderIdAndEpoch:
    leader_id: Int32
    leader_epoch: Int32


@structure
class PartitionData:
    partition_index: Int32
    error_code: Int16
    error_message: str | None = field(default=None)
    current_leader: LeaderIdAndEpoch


@structure
class ShareAcknowledgeTopicResponse:
    topic_id: Uuid
    partitions: list[PartitionData]


@structure
class NodeEndpoint:
    node_id: Int32
    host: str
    port: Int32
    rack: str | None = field(default=None)


@message(key=79, versions=(1, 2), flexible=0)
class ShareAcknowledgeResponse:
    """An error code for each partition."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None = field(default=None)
    acquisition_lock_timeout_ms: Int32 = field(since=2, default=0, ignorable=True)
    responses: list[ShareAcknowledgeTopicResponse]
    node_endpoints: list[NodeEndpoint]
