"""DeleteTopics: topics go, by name or by id, decided by the controller.

Versions   5 error messages; a client over its limit is refused · 6 topics by id
Not here   what becomes of the logs (replicas), delete.topic.enable (controller.topics).
See        KIP-4, KIP-516, KIP-599
"""

from __future__ import annotations

from collections.abc import Iterator

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.forward import ask, forward
from quire.broker.mutations import Allowance
from quire.errors import ErrorCode
from quire.metadata.image import Image, Topic
from quire.protocol.messages import delete_topics as deleting
from quire.protocol.schema import ZERO_UUID

REFUSED_SINCE = 5


async def handle(broker: Broker, call: Call) -> deleting.DeleteTopicsResponse:
    """Pass on to the controller, within the client's limit."""
    response: deleting.DeleteTopicsResponse
    if not broker.quotas.active:
        response = await forward(broker, call)
        return response
    request: deleting.DeleteTopicsRequest = call.request
    allowance = Allowance(broker, call, is_strict=call.version >= REFUSED_SINCE)
    topics = _topics(request, broker.image)
    _, refused = allowance.split((topic.name, len(topic.partitions)) for topic in topics)
    ids = {topic.topic_id for topic in topics if topic.name in refused}
    code = ErrorCode.THROTTLING_QUOTA_EXCEEDED
    over = [
        deleting.DeletableTopicResult(
            name=one.name, topic_id=one.topic_id, error_code=code, error_message=code.text
        )
        for one in _asked(request)
        if one.name in refused or one.topic_id in ids
    ]
    rest = deleting.DeleteTopicsRequest(
        topics=[
            one for one in request.topics if one.name not in refused and one.topic_id not in ids
        ],
        topic_names=[name for name in request.topic_names if name not in refused],
        timeout_ms=request.timeout_ms,
    )
    response = await ask(broker, call, rest)
    response.responses += over
    response.throttle_time_ms = allowance.throttle_ms
    return response


def _asked(request: deleting.DeleteTopicsRequest) -> Iterator[deleting.DeleteTopicState]:
    """What is to go, whichever way the version says it."""
    for name in request.topic_names:
        yield deleting.DeleteTopicState(name=name, topic_id=ZERO_UUID)
    yield from request.topics


def _topics(request: deleting.DeleteTopicsRequest, image: Image) -> list[Topic]:
    """Those that are there, each once."""
    found: dict[str, Topic] = {}
    for one in _asked(request):
        topic = image.topic_by_id(one.topic_id) if one.name is None else image.topics.get(one.name)
        if topic is not None:
            found[topic.name] = topic
    return list(found.values())
