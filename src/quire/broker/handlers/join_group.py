"""JoinGroup: become a member of a classic group, or stay one; answered when the rebalance is over.

Versions   1 a time to rebalance of its own · 4 member ids are given out first · 5 static members · 7 the protocol's
           name may be null · 9 the leader may skip its assignment
Not here   groups (quire.groups).
See        KIP-62, KIP-345, KIP-394, KIP-800, KIP-814
"""

from __future__ import annotations

from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call, Progress
from quire.broker.group_requests import pass_on
from quire.errors import ErrorCode
from quire.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse

NULL_PROTOCOL_SINCE: Final = 7


def handle(broker: Broker, call: Call) -> Progress:
    """Pass on; see the module."""
    request: JoinGroupRequest = call.request

    def refuse(code: ErrorCode) -> JoinGroupResponse:
        return JoinGroupResponse(
            error_code=code, protocol_name=None, leader="", member_id=request.member_id, members=[]
        )

    finish = None if call.version >= NULL_PROTOCOL_SINCE else _without_null
    return pass_on(broker, call, request.group_id, refuse, finish=finish)


def _without_null(response: JoinGroupResponse) -> JoinGroupResponse:
    """As the first versions can say it."""
    if response.protocol_name is None:
        response.protocol_name = ""
    return response
