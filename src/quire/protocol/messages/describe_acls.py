"""DescribeAcls (key 29)."""

from __future__ import annotations

from quire.protocol.schema import Int8, Int16, Int32, field, message, structure


@message(key=29, versions=(1, 3), flexible=2)
class DescribeAclsRequest:
    """Find access rules by a filter. v1 pattern type (KIP-290) · v3 user resources (KIP-373)."""

    resource_type_filter: Int8
    resource_name_filter: str | None
    pattern_type_filter: Int8 = field(default=3)
    principal_filter: str | None
    host_filter: str | None
    operation: Int8
    permission_type: Int8


@structure
class AclDescription:
    principal: str
    host: str
    operation: Int8
    permission_type: Int8


@structure
class DescribeAclsResource:
    resource_type: Int8
    resource_name: str
    pattern_type: Int8 = field(default=3)
    acls: list[AclDescription]


@message(key=29, versions=(1, 3), flexible=2)
class DescribeAclsResponse:
    """The rules found, by resource."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
    resources: list[DescribeAclsResource]
