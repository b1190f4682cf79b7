"""Producer ids, given out to brokers in blocks.

Invariants
  I1  No id is ever given out twice: the log holds the first id of no block yet.
See        KIP-730
"""

from __future__ import annotations

from typing import Final

from quire.controller.decision import Decision, Turn
from quire.errors import ErrorCode
from quire.protocol.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from quire.protocol.messages.metadata_records import ProducerIdsRecord

BLOCK: Final = 1000
_LAST: Final = 2**63 - 1


def allocate(turn: Turn, request: AllocateProducerIdsRequest) -> Decision:
    """The next block, for one broker."""
    first = turn.image.next_producer_id
    if turn.broker_at(request.broker_id, request.broker_epoch) is None:
        return Decision(response=_answer(ErrorCode.STALE_BROKER_EPOCH, 0, 0))
    if first > _LAST - BLOCK:
        return Decision(response=_answer(ErrorCode.UNKNOWN_SERVER_ERROR, 0, 0))
    message = ProducerIdsRecord(
        broker_id=request.broker_id,
        broker_epoch=request.broker_epoch,
        next_producer_id=first + BLOCK,
    )
    return Decision((turn.record(message),), _answer(ErrorCode.NONE, first, BLOCK))


def _answer(code: ErrorCode, first: int, length: int) -> AllocateProducerIdsResponse:
    return AllocateProducerIdsResponse(
        throttle_time_ms=0, error_code=code, producer_id_start=first, producer_id_len=length
    )
