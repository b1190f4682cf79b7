"""InitProducerId: an id for an idempotent producer.

Without a transactional id every request gets a new id in epoch 0, whatever it says of an earlier one. With one it is
the transaction coordinator's; while this broker has none the answer is COORDINATOR_NOT_AVAILABLE: true, and the one
that makes clients look for the coordinator again instead of giving up.

Versions   3 an earlier id and epoch · 4 PRODUCER_FENCED is known
Not here   blocks of ids (producer_ids).
See        KIP-98, KIP-360
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.controller_link import ControllerUnavailableError
from quire.errors import ErrorCode
from quire.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)

NO_ID = -1
NO_EPOCH = -1


async def handle(broker: Broker, call: Call) -> InitProducerIdResponse:
    """Answer; see the module."""
    request: InitProducerIdRequest = call.request
    code = _refusal(request)
    if code is not ErrorCode.NONE:
        return _answer(code)
    try:
        return _answer(ErrorCode.NONE, await broker.producer_ids.next())
    except ControllerUnavailableError:
        return _answer(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def _refusal(request: InitProducerIdRequest) -> ErrorCode:
    if (request.producer_id == NO_ID) != (request.producer_epoch == NO_EPOCH):
        return ErrorCode.INVALID_REQUEST
    if request.transactional_id is None:
        return ErrorCode.NONE
    if not request.transactional_id:
        return ErrorCode.INVALID_REQUEST
    return ErrorCode.COORDINATOR_NOT_AVAILABLE


def _answer(code: ErrorCode, producer_id: int = NO_ID) -> InitProducerIdResponse:
    return InitProducerIdResponse(
        throttle_time_ms=0,
        error_code=code,
        producer_id=producer_id,
        producer_epoch=NO_EPOCH if producer_id == NO_ID else 0,
    )
