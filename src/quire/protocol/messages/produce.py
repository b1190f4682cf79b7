"""Produce (key 0)."""

from __future__ import annotations

from quire.protocol.schema import (
    ZERO_UUID,
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
class PartitionProduceData:
    index: Int32
    records: Records | None


@structure
class TopicProduceData:
    name: str = field(until=12, default="", ignorable=True)
    topic_id: Uuid = field(since=13, default=ZERO_UUID, ignorable=True)
    partition_data: list[PartitionProduceData]


@message(key=0, versions=(3, 13), flexible=9)
class ProduceRequest:
    """Record batches to append. v9 flexible · v10 leader hints (KIP-951) · v12 implicit
    partition adding (KIP-890) · v13 topic ids (KIP-516).
    """

    transactional_id: str | None = field(default=None)
    acks: Int16
    timeout_ms: Int32
    topic_data: list[TopicProduceData]


@structure
class BatchIndexAndErrorMessage:
    batch_index: Int32
    batch_index_error_message: str | None = field(default=None)


@structure
class LeaderIdAndEpoch:
    leader_id: Int32 = field(default=-1)
    leader_epoch: Int32 = field(default=-1)


@structure
class PartitionProduceResponse:
    index: Int32
    error_code: Int16
    base_offset: Int64
    log_append_time_ms: Int64 = field(default=-1)
    log_start_offset: Int64 = field(since=5, default=-1, ignorable=True)
    record_errors: list[BatchIndexAndErrorMessage] = field(since=8, default=[], ignorable=True)
    error_message: str | None = field(since=8, default=None, ignorable=True)
    current_leader: LeaderIdAndEpoch = field(since=10, tag=0, default=LeaderIdAndEpoch)


@structure
class TopicProduceResponse:
    name: str = field(until=12, default="", ignorable=True)
    topic_id: Uuid = field(since=13, default=ZERO_UUID, ignorable=True)
    partition_responses: list[PartitionProduceResponse]


@structure
class NodeEndpoint:
    node_id: Int32
    host: str
    port: Int32
    rack: str | None = field(default=None)


@message(key=0, versions=(3, 13), flexible=9)
class ProduceResponse:
    """Where each batch went. v5 log start · v8 per-record errors (KIP-467) · v10 current leader
    (KIP-951) · v13 topic ids.
    """

    responses: list[TopicProduceResponse]
    throttle_time_ms: Int32 = field(default=0)
    node_endpoints: list[NodeEndpoint] = field(since=10, tag=0, default=[])
