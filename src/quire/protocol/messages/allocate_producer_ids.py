"""AllocateProducerIds (key 67)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, field, message


@message(key=67, versions=(0, 0), flexible=0)
class AllocateProducerIdsRequest:
    """A broker asks for a block of producer ids (KIP-730)."""

    broker_id: Int32
    broker_epoch: Int64 = field(default=-1)


@message(key=67, versions=(0, 0), flexible=0)
class AllocateProducerIdsResponse:
    """The first id of the block and its length."""

    throttle_time_ms: Int32
    error_code: Int16
    producer_id_start: Int64
    producer_id_len: Int32
