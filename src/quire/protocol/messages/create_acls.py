"""CreateAcls (key 30)."""

from __future__ import annotations

from quire.protocol.schema import Int8, Int16, Int32, field, message, structure


@structure
class AclCreation:
    resource_type: Int8
    resource_name: str
    resource_pattern_type: Int8 = field(default=3)
    principal: str
    host: str
    operation: Int8
    permission_type: Int8


@message(key=30, versions=(1, 3), flexible=2)
class CreateAclsRequest:
    """Add access rules. v1 pattern type (KIP-290) · v3 user resources."""

    creations: list[AclCreation]


@structure
class AclCreationResult:
    error_code: Int16
    error_message: str | None


@message(key=30, versions=(1, 3), flexible=2)
class CreateAclsResponse:
    """What became of each rule."""

    throttle_time_ms: Int32
    results: list[AclCreationResult]
