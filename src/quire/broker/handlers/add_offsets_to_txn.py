"""AddOffsetsToTxn: a group's offsets shall be part of a transaction.

The partition of the offsets topic that keeps the group takes part like any other; the topic may not be there yet.

Versions   2 PRODUCER_FENCED is known
Not here   the offsets themselves (TxnOffsetCommit, groups).
See        KIP-98
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.coordinators import partition_of
from quire.broker.internal_topics import OFFSETS
from quire.broker.transactions import as_known, ask
from quire.errors import ErrorCode
from quire.protocol.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from quire.transactions.commands import Add
from quire.transactions.transaction import ProducerId
from quire.types import TopicPartition


async def handle(broker: Broker, call: Call) -> AddOffsetsToTxnResponse:
    """Answer; see the module."""
    request: AddOffsetsToTxnRequest = call.request
    code = ErrorCode.INVALID_REQUEST
    if request.transactional_id:
        topic = broker.image.topics.get(OFFSETS)
        count = (
            broker.layers.settings.offsets_topic_num_partitions
            if topic is None
            else len(topic.partitions)
        )
        add = Add(
            request.transactional_id,
            ProducerId(request.producer_id, request.producer_epoch),
            (TopicPartition(OFFSETS, partition_of(request.group_id, count)),),
            client_version=0,
        )
        code = await ask(broker, request.transactional_id, add)
    return AddOffsetsToTxnResponse(
        throttle_time_ms=0, error_code=as_known(code, call.api.name, call.version)
    )
