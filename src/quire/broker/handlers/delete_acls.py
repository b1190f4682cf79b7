"""DeleteAcls: access rules go that any of the filters finds; decided by the controller.

Without an authorizer there are none to speak of: SECURITY_DISABLED for each filter. A filter with the number that says
"unknown" closes the connection, as in Kafka.

Versions   1 pattern types · 2 flexible · 3 resources that are users
Not here   what is refused (controller.acls).
See        KIP-290, KIP-140
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import CLOSE, Call, Progress
from quire.broker.forward import forward
from quire.controller.acls import is_known_filter
from quire.errors import ErrorCode
from quire.protocol.messages import delete_acls as acls


async def handle(broker: Broker, call: Call) -> acls.DeleteAclsResponse | Progress:
    """Answer; see the module."""
    request: acls.DeleteAclsRequest = call.request
    if not all(is_known_filter(one) for one in request.filters):
        return CLOSE
    if broker.layers.settings.authorizer_class_name:
        response: acls.DeleteAclsResponse = await forward(broker, call)
        return response
    return acls.DeleteAclsResponse(
        throttle_time_ms=0,
        filter_results=[
            acls.DeleteAclsFilterResult(
                error_code=ErrorCode.SECURITY_DISABLED,
                error_message="no authorizer is configured",
                matching_acls=[],
            )
            for _ in request.filters
        ],
    )
