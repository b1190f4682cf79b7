"""ListTransactions (key 66)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, field, message, structure


@message(key=66, versions=(0, 2), flexible=0)
class ListTransactionsRequest:
    """All transactions of a coordinator (KIP-664). v1 by age (KIP-994) · v2 by pattern
    (KIP-1152).
    """

    state_filters: list[str]
    producer_id_filters: list[Int64]
    duration_filter: Int64 = field(since=1, default=-1)
    transactional_id_pattern: str | None = field(since=2, default=None)


@structure
class TransactionState:
    transactional_id: str
    producer_id: Int64
    transaction_state: str


@message(key=66, versions=(0, 2), flexible=0)
class ListTransactionsResponse:
    """Ids, producers and states."""

    throttle_time_ms: Int32
    error_code: Int16
    unknown_state_filters: list[str]
    transaction_states: list[TransactionState]
