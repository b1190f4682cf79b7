"""CreateTopics: new topics, each by itself, decided by the controller.

Versions   4 default counts (-1) · 5 counts and settings in the answer · 6 a client over its limit is refused
           · 7 topic ids in the answer
Not here   what a topic may be called, where its replicas go (controller.topics).
See        KIP-4, KIP-464, KIP-525, KIP-599
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.forward import ask, forward
from quire.broker.mutations import Allowance
from quire.errors import ErrorCode
from quire.protocol.messages import create_topics as creating

REFUSED_SINCE = 6


async def handle(broker: Broker, call: Call) -> creating.CreateTopicsResponse:
    """Pass on to the controller, within the client's limit."""
    response: creating.CreateTopicsResponse
    if not broker.quotas.active:
        response = await forward(broker, call)
        return response
    request: creating.CreateTopicsRequest = call.request
    allowance = Allowance(broker, call, is_strict=call.version >= REFUSED_SINCE)
    tried: creating.CreateTopicsResponse = await ask(broker, call, _part(request, dry=True))
    partitions = {
        one.name: one.num_partitions for one in tried.topics if one.error_code == ErrorCode.NONE
    }
    _, refused = allowance.split(partitions.items())
    response = await ask(broker, call, _part(request, without=refused))
    code = ErrorCode.THROTTLING_QUOTA_EXCEEDED
    response.topics += [
        creating.CreatableTopicResult(name=name, error_code=code, error_message=code.text)
        for name in refused
    ]
    response.throttle_time_ms = allowance.throttle_ms
    return response


def _part(
    request: creating.CreateTopicsRequest, *, without: list[str] | None = None, dry: bool = False
) -> creating.CreateTopicsRequest:
    return creating.CreateTopicsRequest(
        topics=[one for one in request.topics if one.name not in (without or ())],
        timeout_ms=request.timeout_ms,
        validate_only=request.validate_only or dry,
    )
