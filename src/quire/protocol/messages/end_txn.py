"""EndTxn (key 26)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int16, Int32, Int64, field, message


@message(key=26, versions=(0, 5), flexible=3)
class EndTxnRequest:
    """Commit or abort. v5 bumps the epoch (KIP-890)."""

    transactional_id: str
    producer_id: Int64
    producer_epoch: Int16
    committed: Bool


@message(key=26, versions=(0, 5), flexible=3)
class EndTxnResponse:
    """Whether the transaction is ending. v5 the next id and epoch (KIP-890)."""

    throttle_time_ms: Int32
    error_code: Int16
    producer_id: Int64 = field(since=5, default=-1, ignorable=True)
    producer_epoch: Int16 = field(since=5, default=-1, ignorable=True)
