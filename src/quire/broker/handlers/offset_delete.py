"""OffsetDelete: forget how far a group has read in topics that none of its members reads.

Not here   groups (quire.groups).
See        KIP-496
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.group_requests import Part, leave_known, merged, take_apart
from quire.errors import ErrorCode
from quire.protocol.messages import offset_delete as deleting


def handle(broker: Broker, call: Call) -> object:
    """Pass on the topics that there are; see the module."""
    request: deleting.OffsetDeleteRequest = call.request
    if not request.group_id:
        return _refuse(ErrorCode.INVALID_GROUP_ID)
    unknown = leave_known(
        request,
        broker.image,
        deleting.OffsetDeleteResponseTopic,
        deleting.OffsetDeleteResponsePartition,
    )

    def finish(responses: list[deleting.OffsetDeleteResponse]) -> deleting.OffsetDeleteResponse:
        (response,) = responses
        if response.error_code == ErrorCode.NONE:
            response.topics = merged([*unknown, *response.topics])
        return response

    part = Part(broker.groups.partition_for(request.group_id), request, _refuse)
    return take_apart(broker, call, [part], finish, writes=True)


def _refuse(code: ErrorCode) -> deleting.OffsetDeleteResponse:
    return deleting.OffsetDeleteResponse(error_code=code, throttle_time_ms=0, topics=[])
