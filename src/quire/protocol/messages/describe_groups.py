"""DescribeGroups (key 15)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int16, Int32, field, message, structure


@message(key=15, versions=(0, 6), flexible=5)
class DescribeGroupsRequest:
    """Classic groups in detail. v3 permitted operations (KIP-430)."""

    groups: list[str]
    include_authorized_operations: Bool = field(since=3, default=False)


@structure
class DescribedGroupMember:
    member_id: str
    group_instance_id: str | None = field(since=4, default=None, ignorable=True)
    client_id: str
    client_host: str
    member_metadata: bytes
    member_assignment: bytes


@structure
class DescribedGroup:
    error_code: Int16
    error_message: str | None = field(since=6, default=None)
    group_id: str
    group_state: str
    protocol_type: str
    protocol_data: str
    members: list[DescribedGroupMember]
    authorized_operations: Int32 = field(since=3, default=-2147483648)


@message(key=15, versions=(0, 6), flexible=5)
class DescribeGroupsResponse:
    """State and members of classic groups. v4 static members · v6 error message."""

    throttle_time_ms: Int32 = field(since=1, default=0, ignorable=True)
    groups: list[DescribedGroup]
