"""InitProducerId (key 22)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int16, Int32, Int64, field, message


@message(key=22, versions=(0, 6), flexible=2, latest_unstable=True)
class InitProducerIdRequest:
    """Ask for a producer id. v3 epoch bump (KIP-360) · v6 two-phase commit, unstable (KIP-939)."""

    transactional_id: str | None
    transaction_timeout_ms: Int32
    producer_id: Int64 = field(since=3, default=-1)
    producer_epoch: Int16 = field(since=3, default=-1)
    enable2_pc: Bool = field(since=6, default=False)
    keep_prepared_txn: Bool = field(since=6, default=False)


@message(key=22, versions=(0, 6), flexible=2)
class InitProducerIdResponse:
    """A producer id and its epoch. v6 the transaction that is still open, unstable (KIP-939)."""

    throttle_time_ms: Int32
    error_code: Int16
    producer_id: Int64 = field(default=-1)
    producer_epoch: Int16
    ongoing_txn_producer_id: Int64 = field(since=6, default=-1)
    ongoing_txn_producer_epoch: Int16 = field(since=6, default=-1)
