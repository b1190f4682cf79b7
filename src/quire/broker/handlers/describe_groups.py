"""DescribeGroups: the state and the members of classic groups.

Versions   3 permitted operations · 4 static members · 6 GROUP_ID_NOT_FOUND, with a sentence
Not here   groups (quire.groups).
See        KIP-88, KIP-430, KIP-1043
"""

from __future__ import annotations

from functools import partial
from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.dispatch import Operation
from quire.broker.group_requests import Part, take_apart
from quire.broker.permitted import bits
from quire.errors import ErrorCode
from quire.groups.describing import DescribeGroup
from quire.protocol.messages import describe_groups as describing

GROUP_OPERATIONS: Final = bits(
    Operation.READ,
    Operation.DELETE,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)


def handle(broker: Broker, call: Call) -> object:
    """Ask each group's coordinator; see the module."""
    request: describing.DescribeGroupsRequest = call.request
    groups = broker.groups
    parts = [
        Part(groups.partition_for(one), DescribeGroup(one), partial(_refuse, one))
        for one in request.groups
    ]

    def finish(found: list[describing.DescribedGroup]) -> describing.DescribeGroupsResponse:
        if request.include_authorized_operations:
            for one in found:
                if one.error_code == ErrorCode.NONE:
                    one.authorized_operations = GROUP_OPERATIONS
        return describing.DescribeGroupsResponse(groups=found)

    return take_apart(broker, call, parts, finish)


def _refuse(group_id: str, code: ErrorCode) -> describing.DescribedGroup:
    return describing.DescribedGroup(
        error_code=code,
        group_id=group_id,
        group_state="",
        protocol_type="",
        protocol_data="",
        members=[],
    )
