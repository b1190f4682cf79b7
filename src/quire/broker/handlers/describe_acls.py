"""DescribeAcls: the access rules that a filter finds, by resource.

Without an authorizer there are none to speak of: SECURITY_DISABLED. A filter with the number that says "unknown"
closes the connection, as in Kafka; one with a number that says nothing finds nothing.

Versions   1 pattern types · 2 flexible · 3 resources that are users
Not here   what a rule allows (security).
See        KIP-290, KIP-140
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import CLOSE, Call, Progress
from quire.controller.acls import is_known_filter, rule_filter
from quire.errors import ErrorCode
from quire.metadata.image import AccessRule
from quire.protocol.messages import describe_acls as acls
from quire.protocol.messages.delete_acls import DeleteAclsFilter


def handle(broker: Broker, call: Call) -> acls.DescribeAclsResponse | Progress:
    """Answer; see the module."""
    request: acls.DescribeAclsRequest = call.request
    wanted = DeleteAclsFilter(
        resource_type_filter=request.resource_type_filter,
        resource_name_filter=request.resource_name_filter,
        pattern_type_filter=request.pattern_type_filter,
        principal_filter=request.principal_filter,
        host_filter=request.host_filter,
        operation=request.operation,
        permission_type=request.permission_type,
    )
    if not is_known_filter(wanted):
        return CLOSE
    if not broker.layers.settings.authorizer_class_name:
        return acls.DescribeAclsResponse(
            throttle_time_ms=0,
            error_code=ErrorCode.SECURITY_DISABLED,
            error_message="no authorizer is configured",
            resources=[],
        )
    matches = rule_filter(wanted)
    return acls.DescribeAclsResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        error_message=None,
        resources=_by_resource([rule for rule in broker.image.acls.values() if matches(rule)]),
    )


def _by_resource(rules: list[AccessRule]) -> list[acls.DescribeAclsResource]:
    found: dict[tuple[int, str, int], acls.DescribeAclsResource] = {}
    for rule in rules:
        key = rule.resource_type, rule.resource_name, rule.pattern_type
        if key not in found:
            found[key] = acls.DescribeAclsResource(
                resource_type=key[0], resource_name=key[1], pattern_type=key[2], acls=[]
            )
        found[key].acls.append(
            acls.AclDescription(
                principal=rule.principal,
                host=rule.host,
                operation=rule.operation,
                permission_type=rule.permission_type,
            )
        )
    return list(found.values())
