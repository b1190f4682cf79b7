"""The key and value of `__transaction_state` (KIP-98)."""

from __future__ import annotations

from quire.protocol.schema import NEVER, Int8, Int16, Int32, Int64, field, message, structure


@message(key=0, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class TransactionLogKey:
    """Key of a transaction: its transactional id."""

    transactional_id: str


@structure
class PartitionsSchema:
    topic: str
    partition_ids: list[Int32]


@message(key=0, kind="coordinator-value", versions=(0, 1), flexible=1)
class TransactionLogValue:
    """A transaction's state. v1 next producer id and version in tags (KIP-890)."""

    producer_id: Int64
    previous_producer_id: Int64 = field(since=1, tag=0, default=-1)
    next_producer_id: Int64 = field(since=1, tag=1, default=-1)
    producer_epoch: Int16
    next_producer_epoch: Int16 = field(since=1, tag=3, default=-1)
    transaction_timeout_ms: Int32
    transaction_status: Int8
    transaction_partitions: list[PartitionsSchema] | None
    transaction_last_update_timestamp_ms: Int64
    transaction_start_timestamp_ms: Int64
    client_transaction_version: Int16 = field(since=1, tag=2, default=0)
