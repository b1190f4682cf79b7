"""CreateAcls: access rules, added one by one; decided by the controller.

Without an authorizer nobody would obey them: SECURITY_DISABLED for each. A rule with the number that says
"unknown" closes the connection, as in Kafka.

Versions   1 pattern types · 2 flexible · 3 resources that are users
Not here   what is refused (controller.acls), what a rule allows (security).
See        KIP-290, KIP-140
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import CLOSE, Call, Progress
from quire.broker.forward import forward
from quire.controller.acls import is_known_rule
from quire.errors import ErrorCode
from quire.protocol.messages import create_acls as acls


async def handle(broker: Broker, call: Call) -> acls.CreateAclsResponse | Progress:
    """Answer; see the module."""
    request: acls.CreateAclsRequest = call.request
    if not all(is_known_rule(one) for one in request.creations):
        return CLOSE
    if broker.layers.settings.authorizer_class_name:
        response: acls.CreateAclsResponse = await forward(broker, call)
        return response
    return acls.CreateAclsResponse(
        throttle_time_ms=0,
        results=[
            acls.AclCreationResult(
                error_code=ErrorCode.SECURITY_DISABLED, error_message="no authorizer is configured"
            )
            for _ in request.creations
        ],
    )
