"""DescribeTransactions (key 65)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, message, structure


@message(key=65, versions=(0, 0), flexible=0)
class DescribeTransactionsRequest:
    """Transactions by id (KIP-664)."""

    transactional_ids: list[str]


@structure
class TopicData:
    topic: str
    partitions: list[Int32]


@structure
class TransactionState:
    error_code: Int16
    transactional_id: str
    transaction_state: str
    transaction_timeout_ms: Int32
    transaction_start_time_ms: Int64
    producer_id: Int64
    producer_epoch: Int16
    topics: list[TopicData]


@message(key=65, versions=(0, 0), flexible=0)
class DescribeTransactionsResponse:
    """State, timeout and partitions of each."""

    throttle_time_ms: Int32
    transaction_states: list[TransactionState]
