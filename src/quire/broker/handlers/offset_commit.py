"""OffsetCommit: keep how far a group has read.

What is not there is refused here; the group's coordinator judges the rest. Positions are kept with the id of
their topic, whatever the version of the request.

Versions   2-4 how long to keep it · 6 leader epoch · 7 static members · 9 member epochs · 10 topics by id
Not here   groups (quire.groups).
See        KIP-211, KIP-345, KIP-848
"""

from __future__ import annotations

from functools import partial
from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.group_requests import Part, pass_on, take_apart
from quire.errors import ErrorCode
from quire.groups.offsets import refuse_commit
from quire.metadata.image import Image
from quire.protocol.messages import offset_commit as committing

BY_ID_SINCE: Final = 10


def handle(broker: Broker, call: Call) -> object:
    """Pass on what can be kept; see the module."""
    request: committing.OffsetCommitRequest = call.request
    refused = _leave_known(request, broker.image, by_id=call.version >= BY_ID_SINCE)
    if not request.topics:
        return committing.OffsetCommitResponse(topics=refused)
    refuse = partial(refuse_commit, request)
    if not refused:
        return pass_on(broker, call, request.group_id, refuse)

    def finish(
        responses: list[committing.OffsetCommitResponse],
    ) -> committing.OffsetCommitResponse:
        return committing.OffsetCommitResponse(topics=_merged(refused, responses[0].topics))

    part = Part(broker.groups.partition_for(request.group_id), request, refuse)
    return take_apart(broker, call, [part], finish, writes=True)


def _leave_known(
    request: committing.OffsetCommitRequest, image: Image, *, by_id: bool
) -> list[committing.OffsetCommitResponseTopic]:
    """Leave the partitions that there are, their topics with names and ids; the refusals of the others."""
    refused = []
    for topic in request.topics:
        known = image.topic_by_id(topic.topic_id) if by_id else image.topics.get(topic.name)
        if known is None:
            unknown = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            refused.append(_refused(topic, topic.partitions, unknown))
            topic.partitions = []
            continue
        topic.name, topic.topic_id = known.name, known.topic_id
        there = known.partitions
        missing = [one for one in topic.partitions if one.partition_index not in there]
        if missing:
            refused.append(_refused(topic, missing, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
            topic.partitions = [one for one in topic.partitions if one.partition_index in there]
    if refused:
        request.topics = [one for one in request.topics if one.partitions]
    return refused


def _refused(
    topic: committing.OffsetCommitRequestTopic,
    partitions: list[committing.OffsetCommitRequestPartition],
    code: ErrorCode,
) -> committing.OffsetCommitResponseTopic:
    return committing.OffsetCommitResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        partitions=[
            committing.OffsetCommitResponsePartition(
                partition_index=one.partition_index, error_code=code
            )
            for one in partitions
        ],
    )


def _merged(
    refused: list[committing.OffsetCommitResponseTopic],
    kept: list[committing.OffsetCommitResponseTopic],
) -> list[committing.OffsetCommitResponseTopic]:
    """Each topic once."""
    found = {(one.name, one.topic_id): one for one in refused}
    for topic in kept:
        same = found.setdefault((topic.name, topic.topic_id), topic)
        if same is not topic:
            same.partitions = [*same.partitions, *topic.partitions]
    return list(found.values())
