"""DeleteAcls (key 31)."""

from __future__ import annotations

from quire.protocol.schema import Int8, Int16, Int32, field, message, structure


@structure
class DeleteAclsFilter:
    resource_type_filter: Int8
    resource_name_filter: str | None
    pattern_type_filter: Int8 = field(default=3)
    principal_filter: str | None
    host_filter: str | None
    operation: Int8
    permission_type: Int8


@message(key=31, versions=(1, 3), flexible=2)
class DeleteAclsRequest:
    """Remove access rules by filters. v1 pattern type (KIP-290) · v3 user resources."""

    filters: list[DeleteAclsFilter]


@structure
class DeleteAclsMatchingAcl:
    error_code: Int16
    error_message: str | None
    resource_type: Int8
    resource_name: str
    pattern_type: Int8 = field(default=3)
    principal: str
    host: str
    operation: Int8
    permission_type: Int8


@structure
class DeleteAclsFilterResult:
    error_code: Int16
    error_message: str | None
    matching_acls: list[DeleteAclsMatchingAcl]


@message(key=31, versions=(1, 3), flexible=2)
class DeleteAclsResponse:
    """The rules that each filter removed."""

    throttle_time_ms: Int32
    filter_results: list[DeleteAclsFilterResult]
