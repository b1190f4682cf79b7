"""DeleteGroups: take groups away that have no members, with all that they have committed.

Not here   groups (quire.groups).
See        KIP-229
"""

from __future__ import annotations

from functools import partial

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.group_requests import Part, take_apart
from quire.errors import ErrorCode
from quire.groups.describing import DeleteGroups
from quire.protocol.messages import delete_groups as deleting


def handle(broker: Broker, call: Call) -> object:
    """Ask each partition's coordinator for its groups; see the module."""
    request: deleting.DeleteGroupsRequest = call.request
    by_partition: dict[int | None, list[str]] = {}
    for group_id in dict.fromkeys(request.groups_names):
        partition = broker.groups.partition_for(group_id)
        by_partition.setdefault(partition, []).append(group_id)
    parts = [
        Part(partition, DeleteGroups(tuple(names)), partial(_refuse, names))
        for partition, names in by_partition.items()
    ]

    def finish(
        found: list[list[deleting.DeletableGroupResult]],
    ) -> deleting.DeleteGroupsResponse:
        results = [one for part in found for one in part]
        return deleting.DeleteGroupsResponse(throttle_time_ms=0, results=results)

    return take_apart(broker, call, parts, finish, writes=True)


def _refuse(names: list[str], code: ErrorCode) -> list[deleting.DeletableGroupResult]:
    return [deleting.DeletableGroupResult(group_id=one, error_code=code) for one in names]
