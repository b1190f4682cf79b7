"""TxnOffsetCommit: how far a group has read, to hold once the producer's transaction is committed.

Versions   2 leader epoch; before it COORDINATOR_LOAD_IN_PROGRESS is not known · 3 the member that commits
           · 5 without an AddOffsetsToTxn before it
Not here   groups (quire.groups), whether the transaction may write here (transactions).
See        KIP-98, KIP-447, KIP-890
"""

from __future__ import annotations

from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.group_requests import Part, take_apart
from quire.errors import ErrorCode
from quire.groups.offsets import refuse_commit
from quire.metadata.image import Image
from quire.protocol.messages import txn_offset_commit as transacting

LOADING_KNOWN_SINCE: Final = 2


def handle(broker: Broker, call: Call) -> object:
    """Pass on what can be kept; see the module."""
    request: transacting.TxnOffsetCommitRequest = call.request
    refused = _leave_known(request, broker.image)

    def finish(
        responses: list[transacting.TxnOffsetCommitResponse],
    ) -> transacting.TxnOffsetCommitResponse:
        topics = [topic for response in responses for topic in response.topics]
        return transacting.TxnOffsetCommitResponse(throttle_time_ms=0, topics=refused + topics)

    def refuse(code: ErrorCode) -> transacting.TxnOffsetCommitResponse:
        if call.version < LOADING_KNOWN_SINCE and code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            code = ErrorCode.COORDINATOR_NOT_AVAILABLE
        response: transacting.TxnOffsetCommitResponse = refuse_commit(request, code)
        return response

    if not request.topics:
        return finish([])
    part = Part(broker.groups.partition_for(request.group_id), request, refuse)
    return take_apart(broker, call, [part], finish, writes=True)


def _leave_known(
    request: transacting.TxnOffsetCommitRequest, image: Image
) -> list[transacting.TxnOffsetCommitResponseTopic]:
    """Leave the topics that there are; the refusals of the others."""
    refused = [
        transacting.TxnOffsetCommitResponseTopic(
            name=topic.name,
            partitions=[
                transacting.TxnOffsetCommitResponsePartition(
                    partition_index=one.partition_index,
                    error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                )
                for one in topic.partitions
            ],
        )
        for topic in request.topics
        if topic.name not in image.topics
    ]
    if refused:
        request.topics = [one for one in request.topics if one.name in image.topics]
    return refused
