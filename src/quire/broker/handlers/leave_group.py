"""LeaveGroup: members of a classic group go.

Versions   3 several at once, static ones by their instance · 5 reasons
Not here   groups (quire.groups).
See        KIP-345, KIP-800
"""

from __future__ import annotations

from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.group_requests import Part, take_apart
from quire.errors import ErrorCode
from quire.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)

SEVERAL_SINCE: Final = 3


def handle(broker: Broker, call: Call) -> object:
    """Pass on; see the module."""
    request: LeaveGroupRequest = call.request
    if call.version < SEVERAL_SINCE:
        leaver = MemberIdentity(member_id=request.member_id)
        request = LeaveGroupRequest(group_id=request.group_id, members=[leaver])

    def finish(responses: list[LeaveGroupResponse]) -> LeaveGroupResponse:
        (response,) = responses
        if call.version < SEVERAL_SINCE and response.members:
            return LeaveGroupResponse(error_code=response.members[0].error_code)
        return response

    partition = broker.groups.partition_for(request.group_id)
    return take_apart(broker, call, [Part(partition, request, _refuse)], finish, writes=True)


def _refuse(code: ErrorCode) -> LeaveGroupResponse:
    return LeaveGroupResponse(error_code=code, members=[])
