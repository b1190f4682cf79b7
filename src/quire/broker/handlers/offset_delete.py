"""OffsetDelete: forget how far a group has read in topics that none of its members reads.

Not here   groups (quire.groups).
See        KIP-496
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.group_requests import Part, take_apart
from quire.errors import ErrorCode
from quire.protocol.messages import offset_delete as deleting


def handle(broker: Broker, call: Call) -> object:
    """Pass on the topics that there are; see the module."""
    request: deleting.OffsetDeleteRequest = call.request
    image = broker.image
    unknown = [
        deleting.OffsetDeleteResponseTopic(
            name=topic.name,
            partitions=[
                deleting.OffsetDeleteResponsePartition(
                    partition_index=one.partition_index,
                    error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                )
                for one in topic.partitions
            ],
        )
        for topic in request.topics
        if topic.name not in image.topics
    ]
    request.topics = [one for one in request.topics if one.name in image.topics]

    def finish(responses: list[deleting.OffsetDeleteResponse]) -> deleting.OffsetDeleteResponse:
        (response,) = responses
        if response.error_code == ErrorCode.NONE:
            response.topics = [*unknown, *response.topics]
        return response

    part = Part(broker.groups.partition_for(request.group_id), request, _refuse)
    return take_apart(broker, call, [part], finish, writes=True)


def _refuse(code: ErrorCode) -> deleting.OffsetDeleteResponse:
    return deleting.OffsetDeleteResponse(error_code=code, throttle_time_ms=0, topics=[])
