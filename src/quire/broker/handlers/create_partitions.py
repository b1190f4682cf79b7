"""CreatePartitions: topics grow, decided by the controller.

Versions   3 a client over its limit is refused
Not here   where replicas go, what is refused (controller.topics).
See        KIP-195, KIP-599
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.forward import ask, forward
from quire.broker.mutations import Allowance
from quire.errors import ErrorCode
from quire.protocol.messages import create_partitions as growing

REFUSED_SINCE = 3


async def handle(broker: Broker, call: Call) -> growing.CreatePartitionsResponse:
    """Pass on to the controller, within the client's limit."""
    response: growing.CreatePartitionsResponse
    if not broker.quotas.active:
        response = await forward(broker, call)
        return response
    request: growing.CreatePartitionsRequest = call.request
    allowance = Allowance(broker, call, is_strict=call.version >= REFUSED_SINCE)
    tried: growing.CreatePartitionsResponse = await ask(broker, call, _part(request, dry=True))
    fine = {one.name for one in tried.results if one.error_code == ErrorCode.NONE}
    _, refused = allowance.split(
        (one.name, one.count - len(broker.image.topics[one.name].partitions))
        for one in request.topics
        if one.name in fine and one.name in broker.image.topics
    )
    response = await ask(broker, call, _part(request, without=refused))
    code = ErrorCode.THROTTLING_QUOTA_EXCEEDED
    response.results += [
        growing.CreatePartitionsTopicResult(name=name, error_code=code, error_message=code.text)
        for name in refused
    ]
    response.throttle_time_ms = allowance.throttle_ms
    return response


def _part(
    request: growing.CreatePartitionsRequest,
    *,
    without: list[str] | None = None,
    dry: bool = False,
) -> growing.CreatePartitionsRequest:
    return growing.CreatePartitionsRequest(
        topics=[one for one in request.topics if one.name not in (without or ())],
        timeout_ms=request.timeout_ms,
        validate_only=request.validate_only or dry,
    )
