"""TxnOffsetCommit (key 28)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, field, message, structure


@structure
class TxnOffsetCommitRequestPartition:
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = field(since=2, default=-1, ignorable=True)
    committed_metadata: str | None


@structure
class TxnOffsetCommitRequestTopic:
    name: str
    partitions: list[TxnOffsetCommitRequestPartition]


@message(key=28, versions=(0, 5), flexible=3)
class TxnOffsetCommitRequest:
    """Positions that become valid with the transaction. v2 leader epoch · v3 membership
    (KIP-447) · v5 no prior AddOffsetsToTxn (KIP-890).
    """

    transactional_id: str
    group_id: str
    producer_id: Int64
    producer_epoch: Int16
    generation_id: Int32 = field(since=3, default=-1)
    member_id: str = field(since=3, default="")
    group_instance_id: str | None = field(since=3, default=None)
    topics: list[TxnOffsetCommitRequestTopic]


@structure
class TxnOffsetCommitResponsePartition:
    partition_index: Int32
    error_code: Int16


@structure
class TxnOffsetCommitResponseTopic:
    name: str
    partitions: list[TxnOffsetCommitResponsePartition]


@message(key=28, versions=(0, 5), flexible=3)
class TxnOffsetCommitResponse:
    """An error code for each partition."""

    throttle_time_ms: Int32
    topics: list[TxnOffsetCommitResponseTopic]
