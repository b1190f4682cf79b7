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
from quire.broker.group_requests import Part, take_apart
from quire.broker.internal_topics import OFFSETS
from quire.broker.verification import verify_offsets
from quire.errors import ErrorCode
from quire.groups.offsets import refuse_commit
from quire.metadata.image import Image
from quire.protocol.messages import txn_offset_commit as transacting
from quire.transactions.transaction import ProducerId
from quire.types import TopicPartition

LOADING_KNOWN_SINCE: Final = 2


def handle(broker: Broker, call: Call) -> object:
    """Pass on what can be kept; see the module."""
    request: transacting.TxnOffsetCommitRequest = call.request
    refused = _leave_known(request, broker.image)

    def finish(
        responses: list[transacting.TxnOffsetCommitResponse],
    ) -> transacting.TxnOffsetCommitResponse:
        topics = [topic for response in responses for topic in response.topics]
        return transacting.TxnOffsetCommitResponse(
            throttle_time_ms=0, topics=_merged(refused + topics)
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


def _leave_known(
    request: transacting.TxnOffsetCommitRequest, image: Image
) -> list[transacting.TxnOffsetCommitResponseTopic]:
    """Leave the partitions that there are; the refusals of the others."""
    refused = []
    for topic in request.topics:
        known = image.topics.get(topic.name)
        there = () if known is None else known.partitions
        missing = [one for one in topic.partitions if one.partition_index not in there]
        if not missing:
            continue
        topic.partitions = [one for one in topic.partitions if one.partition_index in there]
        refused.append(
            transacting.TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    transacting.TxnOffsetCommitResponsePartition(
                        partition_index=one.partition_index,
                        error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                    )
                    for one in missing
                ],
            )
        )
    if refused:
        request.topics = [one for one in request.topics if one.partitions]
    return refused


def _merged(
    topics: list[transacting.TxnOffsetCommitResponseTopic],
) -> list[transacting.TxnOffsetCommitResponseTopic]:
    """Each topic once."""
    found: dict[str, transacting.TxnOffsetCommitResponseTopic] = {}
    for topic in topics:
        same = found.setdefault(topic.name, topic)
        if same is not topic:
            same.partitions = [*same.partitions, *topic.partitions]
    return list(found.values())
