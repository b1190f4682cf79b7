"""SyncGroup: hand in the assignment of a generation, or ask for one's share of it.

Versions   3 static members · 5 the protocol that the member believes in
Not here   groups (quire.groups).
See        KIP-345, KIP-559
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call, Progress
from quire.broker.group_requests import pass_on
from quire.errors import ErrorCode
from quire.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

NAMED_PROTOCOL_SINCE = 5


def handle(broker: Broker, call: Call) -> Progress | SyncGroupResponse:
    """Pass on; see the module."""
    request: SyncGroupRequest = call.request
    if call.version >= NAMED_PROTOCOL_SINCE and None in (
        request.protocol_type,
        request.protocol_name,
    ):
        return _refuse(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    return pass_on(broker, call, request.group_id, _refuse)


def _refuse(code: ErrorCode) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=code, assignment=b"")
