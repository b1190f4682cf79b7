"""OffsetCommit: keep how far a group has read.

A topic that is not there is refused here; the group's coordinator judges the rest. Positions are kept with the id of
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
        return committing.OffsetCommitResponse(topics=refused + responses[0].topics)

    part = Part(broker.groups.partition_for(request.group_id), request, refuse)
    return take_apart(broker, call, [part], finish, writes=True)


def _leave_known(
    request: committing.OffsetCommitRequest, image: Image, *, by_id: bool
) -> list[committing.OffsetCommitResponseTopic]:
    """Leave the topics that there are, with names and ids; the refusals of the others."""
    refused = []
    unknown = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    for topic in request.topics:
        known = image.topic_by_id(topic.topic_id) if by_id else image.topics.get(topic.name)
        if known is not None:
            topic.name, topic.topic_id = known.name, known.topic_id
            continue
        refused.append(
            committing.OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    committing.OffsetCommitResponsePartition(
                        partition_index=one.partition_index, error_code=unknown
                    )
                    for one in topic.partitions
                ],
            )
        )
        topic.partitions = []
    if refused:
        request.topics = [one for one in request.topics if one.partitions]
    return refused
