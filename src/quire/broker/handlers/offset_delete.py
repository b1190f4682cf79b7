"""OffsetDelete: forget how far a group has read in topics that none of its members reads.

Not here   groups (quire.groups).
See        KIP-496
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.group_requests import Part, take_apart
from quire.errors import ErrorCode
from quire.metadata.image import Image
from quire.protocol.messages import offset_delete as deleting


def handle(broker: Broker, call: Call) -> object:
    """Pass on the topics that there are; see the module."""
    request: deleting.OffsetDeleteRequest = call.request
    unknown = _leave_known(request, broker.image)

    def finish(responses: list[deleting.OffsetDeleteResponse]) -> deleting.OffsetDeleteResponse:
        (response,) = responses
        if response.error_code == ErrorCode.NONE:
            response.topics = _merged([*unknown, *response.topics])
        return response

    part = Part(broker.groups.partition_for(request.group_id), request, _refuse)
    return take_apart(broker, call, [part], finish, writes=True)


def _refuse(code: ErrorCode) -> deleting.OffsetDeleteResponse:
    return deleting.OffsetDeleteResponse(error_code=code, throttle_time_ms=0, topics=[])


def _leave_known(
    request: deleting.OffsetDeleteRequest, image: Image
) -> list[deleting.OffsetDeleteResponseTopic]:
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
            deleting.OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=[
                    deleting.OffsetDeleteResponsePartition(
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
    topics: list[deleting.OffsetDeleteResponseTopic],
) -> list[deleting.OffsetDeleteResponseTopic]:
    """Each topic once."""
    found: dict[str, deleting.OffsetDeleteResponseTopic] = {}
    for topic in topics:
        same = found.setdefault(topic.name, topic)
        if same is not topic:
            same.partitions = [*same.partitions, *topic.partitions]
    return list(found.values())
