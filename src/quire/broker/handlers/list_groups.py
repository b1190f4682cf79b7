"""ListGroups: the groups that this broker coordinates.

While a partition is still being read the list would not be whole: COORDINATOR_LOAD_IN_PROGRESS.

Versions   4 by state · 5 by kind
Not here   groups (quire.groups).
See        KIP-518, KIP-848
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.group_requests import Part, take_apart
from quire.errors import ErrorCode
from quire.groups.describing import ListGroups
from quire.protocol.messages import list_groups as listing


def handle(broker: Broker, call: Call) -> object:
    """Ask every coordinator here; see the module."""
    request: listing.ListGroupsRequest = call.request
    if broker.groups.is_loading:
        return _refused(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    question = ListGroups(
        frozenset(one.lower() for one in request.states_filter),
        frozenset(one.lower() for one in request.types_filter),
    )
    parts = [Part(partition, question, _nothing) for partition, _ in broker.groups.machines()]

    def finish(found: list[list[listing.ListedGroup]]) -> listing.ListGroupsResponse:
        groups = [group for part in found for group in part]
        return listing.ListGroupsResponse(error_code=ErrorCode.NONE, groups=groups)

    return take_apart(broker, call, parts, finish)


def _nothing(_code: ErrorCode) -> list[listing.ListedGroup]:
    """A partition that is led by somebody else meanwhile is in that broker's list."""
    return []


def _refused(code: ErrorCode) -> listing.ListGroupsResponse:
    return listing.ListGroupsResponse(error_code=code, groups=[])
