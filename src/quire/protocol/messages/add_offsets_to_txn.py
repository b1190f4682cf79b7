"""AddOffsetsToTxn (key 25)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, message


@message(key=25, versions=(0, 4), flexible=3)
class AddOffsetsToTxnRequest:
    """A group's offsets will be part of the transaction (KIP-98)."""

    transactional_id: str
    producer_id: Int64
    producer_epoch: Int16
    group_id: str


@message(key=25, versions=(0, 4), flexible=3)
class AddOffsetsToTxnResponse:
    """Whether the group was added."""

    throttle_time_ms: Int32
    error_code: Int16
