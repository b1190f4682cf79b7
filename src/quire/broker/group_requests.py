"""From a request about groups to the coordinators that decide it, and back to one answer.

A request about one group goes to the coordinator of its partition; one about several is taken apart, and answered
when all parts are. Nothing here waits: the next request of a connection may begin meanwhile.

Invariants
  I1  Parts are answered in the order in which they were asked for.
  I2  A part that nobody decides is refused in the words of its own response; the others are not.
Not here   what is decided (groups), which requests there are (handlers).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from quire.broker.broker import Broker
from quire.broker.call import LATER, Call, Progress
from quire.broker.coordinators import CoordinatorError
from quire.coordination import Caller
from quire.errors import ErrorCode
from quire.metadata.image import Image

Refuse = Callable[[ErrorCode], Any]


class NamedTopic(Protocol):
    """One topic of an answer, whatever request it is for."""

    name: str
    partitions: list[Any]


Topic = TypeVar("Topic", bound=NamedTopic)

_UNAVAILABLE: Final = frozenset({ErrorCode.REQUEST_TIMED_OUT})
"""What a client shall take for a coordinator that is not there: it looks for it again."""


class Part(NamedTuple):
    """One question to one coordinator."""

    partition: int | None
    request: Any
    refuse: Refuse


def caller_of(call: Call) -> Caller:
    """Who asks, as groups remember it."""
    return Caller(call.version, call.client_id or "", f"/{call.client.address.host}")


def pass_on(
    broker: Broker,
    call: Call,
    group_id: str,
    refuse: Refuse,
    *,
    finish: Callable[[Any], Any] | None = None,
) -> Progress:
    """Have the group's coordinator decide the whole request; `finish` has the last word on the response."""

    def told(response: Any) -> None:
        if isinstance(response, CoordinatorError):
            response = refuse(_code(response))
        call.answer(response if finish is None else finish(response))

    groups = broker.groups
    groups.submit(groups.partition_for(group_id), call.request, caller_of(call), told)
    return LATER


def take_apart(
    broker: Broker,
    call: Call,
    parts: Sequence[Part],
    finish: Callable[[list[Any]], Any],
    *,
    writes: bool = False,
) -> Any:
    """Have each part decided; `finish` makes one response of all (I1, I2)."""
    if not parts:
        return finish([])
    responses: list[Any] = [None] * len(parts)
    missing = len(parts)

    def told(number: int, response: Any) -> None:
        nonlocal missing
        if isinstance(response, CoordinatorError):
            response = parts[number].refuse(_code(response))
        responses[number] = response
        missing -= 1
        if not missing:
            call.answer(finish(responses))

    caller = caller_of(call)
    for number, part in enumerate(parts):
        broker.groups.submit(
            part.partition,
            part.request,
            caller,
            partial(told, number),
            writes=writes,
        )
    return LATER


def leave_known(
    request: Any,
    image: Image,
    topic_class: Callable[..., Topic],
    partition_class: Callable[..., Any],
) -> list[Topic]:
    """Leave only the partitions that there are in a request; the refusals of the others, in these classes."""
    refused = []
    for topic in request.topics:
        known = image.topics.get(topic.name)
        there = () if known is None else known.partitions
        missing = [one for one in topic.partitions if one.partition_index not in there]
        if not missing:
            continue
        topic.partitions = [one for one in topic.partitions if one.partition_index in there]
        unknown = [
            partition_class(
                partition_index=one.partition_index,
                error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            )
            for one in missing
        ]
        refused.append(topic_class(name=topic.name, partitions=unknown))
    if refused:
        request.topics = [one for one in request.topics if one.partitions]
    return refused


def merged(topics: Sequence[Topic]) -> list[Topic]:
    """Each topic of an answer once."""
    found: dict[str, Topic] = {}
    for topic in topics:
        same = found.setdefault(topic.name, topic)
        if same is not topic:
            same.partitions = [*same.partitions, *topic.partitions]
    return list(found.values())


def _code(refusal: CoordinatorError) -> ErrorCode:
    code = refusal.code
    return ErrorCode.COORDINATOR_NOT_AVAILABLE if code in _UNAVAILABLE else code
