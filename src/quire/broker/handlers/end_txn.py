"""EndTxn: commit or abort.

Answered when the coordinator has written how the transaction ends; the partitions are told afterwards. From version 5
on every end bumps the producer's epoch, and the answer says as whom it goes on.

Versions   2 PRODUCER_FENCED is known · 5 an epoch for every transaction
See        KIP-98, KIP-890
"""

from __future__ import annotations

from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.transactions import as_known, decide
from quire.errors import ErrorCode
from quire.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from quire.transactions.commands import End, Producer
from quire.transactions.transaction import EPOCH_BUMP_VERSION, ProducerId

BUMPS_SINCE: Final = 5


async def handle(broker: Broker, call: Call) -> EndTxnResponse:
    """Answer; see the module."""
    request: EndTxnRequest = call.request
    if request.transactional_id:
        producer = ProducerId(request.producer_id, request.producer_epoch)
        client_version = EPOCH_BUMP_VERSION if call.version >= BUMPS_SINCE else 0
        command = End(request.transactional_id, producer, request.committed, client_version)
        found = await decide(broker, command)
    else:
        found = Producer(ErrorCode.INVALID_REQUEST)
    return EndTxnResponse(
        throttle_time_ms=0,
        error_code=as_known(found.code, call.api.name, call.version),
        producer_id=found.producer_id,
        producer_epoch=found.epoch,
    )
