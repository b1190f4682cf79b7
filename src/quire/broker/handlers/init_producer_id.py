"""InitProducerId: an id for an idempotent producer, or the next epoch for one with a transactional id.

Without a transactional id every request gets a new id in epoch 0, whatever it says of an earlier one. With one the
coordinator of that id says as whom the producer goes on; whoever wrote in its name before is fenced.

Versions   3 an earlier id and epoch · 4 PRODUCER_FENCED is known · 6 (unstable) two-phase commit, which is refused
Not here   blocks of ids (producer_ids), who is fenced when (transactions).
See        KIP-98, KIP-360, KIP-939
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.controller_link import ControllerUnavailableError
from quire.broker.transactions import as_known, decide
from quire.errors import ErrorCode
from quire.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from quire.transactions.commands import Init, Producer
from quire.transactions.transaction import NO_EPOCH, NO_PRODUCER_ID, ProducerId


async def handle(broker: Broker, call: Call) -> InitProducerIdResponse:
    """Answer; see the module."""
    request: InitProducerIdRequest = call.request
    code = _refusal(broker, request)
    if code is not ErrorCode.NONE:
        return _answer(Producer(code))
    if request.transactional_id is None:
        return _answer(await _new(broker))
    expected = None
    if request.producer_id != NO_PRODUCER_ID:
        expected = ProducerId(request.producer_id, request.producer_epoch)
    command = Init(request.transactional_id, request.transaction_timeout_ms, expected)
    found = await decide(broker, command)
    return _answer(found._replace(code=as_known(found.code, call.api.name, call.version)))


async def _new(broker: Broker) -> Producer:
    try:
        return Producer(ErrorCode.NONE, await broker.producer_ids.next(), 0)
    except ControllerUnavailableError:
        return Producer(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def _refusal(broker: Broker, request: InitProducerIdRequest) -> ErrorCode:
    if (request.producer_id == NO_PRODUCER_ID) != (request.producer_epoch == NO_EPOCH):
        return ErrorCode.INVALID_REQUEST
    if request.transactional_id is None:
        return ErrorCode.NONE
    if not request.transactional_id:
        return ErrorCode.INVALID_REQUEST
    if request.enable2_pc and not broker.layers.settings.transaction_two_phase_commit_enable:
        return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    if request.enable2_pc or request.keep_prepared_txn:
        return ErrorCode.UNSUPPORTED_VERSION
    return ErrorCode.NONE


def _answer(found: Producer) -> InitProducerIdResponse:
    return InitProducerIdResponse(
        throttle_time_ms=0,
        error_code=found.code,
        producer_id=found.producer_id,
        producer_epoch=found.epoch,
    )
