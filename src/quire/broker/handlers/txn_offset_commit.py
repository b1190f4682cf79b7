"""TxnOffsetCommit: how far a group has read, to hold once the producer's transaction is committed.

Versions   2 leader epoch; before it COORDINATOR_LOAD_IN_PROGRESS is not known · 3 the member that commits
           · 5 without an AddOffsetsToTxn before it
Not here   groups (quire.groups), whether the transaction may write here (verification).
See        KIP-98, KIP-447, KIP-890
"""

from __future__ import annotations

from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.group_requests import Part, leave_known, merged, take_apart
from quire.broker.internal_topics import OFFSETS
from quire.broker.verification import verify_offsets
from quire.errors import ErrorCode
from quire.groups.offsets import refuse_commit
from quire.protocol.messages import txn_offset_commit as transacting
from quire.transactions.transaction import ProducerId
from quire.types import TopicPartition

LOADING_KNOWN_SINCE: Final = 2


def handle(broker: Broker, call: Call) -> object:
    """Pass on what can be kept; see the module."""
    request: transacting.TxnOffsetCommitRequest = call.request
    refused = leave_known(
        request,
        broker.image,
        transacting.TxnOffsetCommitResponseTopic,
        transacting.TxnOffsetCommitResponsePartition,
    )

    def finish(
        responses: list[transacting.TxnOffsetCommitResponse],
    ) -> transacting.TxnOffsetCommitResponse:
        topics = [topic for response in responses for topic in response.topics]
        return transacting.TxnOffsetCommitResponse(
            throttle_time_ms=0, topics=merged(refused + topics)
        )

    def refuse(code: ErrorCode) -> transacting.TxnOffsetCommitResponse:
        if call.version < LOADING_KNOWN_SINCE and code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            code = ErrorCode.COORDINATOR_NOT_AVAILABLE
        response: transacting.TxnOffsetCommitResponse = refuse_commit(request, code)
        return response

    if not request.topics:
        return finish([])
    partition = broker.groups.partition_for(request.group_id)
    part = Part(partition, request, refuse)
    if partition is None:
        return take_apart(broker, call, [part], finish, writes=True)

    async def verified() -> object:
        code = await verify_offsets(
            broker,
            request.transactional_id,
            ProducerId(request.producer_id, request.producer_epoch),
            TopicPartition(OFFSETS, partition),
            version=call.version,
        )
        if code is ErrorCode.NONE:
            return take_apart(broker, call, [part], finish, writes=True)
        return finish([refuse(code)])

    return verified()
