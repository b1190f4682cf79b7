"""ListGroups (key 16)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, field, message, structure


@message(key=16, versions=(0, 5), flexible=3)
class ListGroupsRequest:
    """All groups of a broker. v4 by state (KIP-518) · v5 by type (KIP-848)."""

    states_filter: list[str] = field(since=4, default=[])
    types_filter: list[str] = field(since=5, default=[])


@structure
class ListedGroup:
    group_id: str
    protocol_type: str
    group_state: str = field(since=4, default="", ignorable=True)
    group_type: str = field(since=5, default="", ignorable=True)


@message(key=16, versions=(0, 5), flexible=3)
class ListGroupsResponse:
    """Groups and their protocol. v4 state · v5 type."""

    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    error_code: Int16
    groups: list[ListedGroup]
