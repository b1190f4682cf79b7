"""Heartbeat: a member of a classic group is alive, and learns whether it shall join anew.

Versions   3 static members
Not here   groups (quire.groups).
See        KIP-345
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call, Progress
from quire.broker.group_requests import pass_on
from quire.errors import ErrorCode
from quire.protocol.messages.heartbeat import HeartbeatResponse


def handle(broker: Broker, call: Call) -> Progress:
    """Pass on; see the module."""
    return pass_on(broker, call, call.request.group_id, _refuse)


def _refuse(code: ErrorCode) -> HeartbeatResponse:
    if code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        code = ErrorCode.NONE  # the member stays where it is until the coordinator knows better
    return HeartbeatResponse(error_code=code)
