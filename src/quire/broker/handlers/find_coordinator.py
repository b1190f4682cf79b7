"""FindCoordinator: which broker coordinates a group, a transactional id or a share partition.

The leader of a partition of an internal topic does; the key's hash says which partition. A topic that is not there
yet is asked of the controller, and whoever waits for it is told to ask again.

Versions   1 transactions · 4 several keys · 6 share groups
Not here   what coordinators do (groups, transactions), who hosts them (coordinators).
See        KIP-98, KIP-699, KIP-932
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.coordinators import partition_of
from quire.broker.forward import ask
from quire.broker.internal_topics import OFFSETS, SHARES, TRANSACTIONS, creatable
from quire.broker.nodes import NOBODY, Node, alive_nodes
from quire.errors import ErrorCode
from quire.metadata.image import Image
from quire.protocol.messages import find_coordinator as finding
from quire.protocol.messages.create_topics import CreateTopicsRequest

SEVERAL_SINCE: Final = 4
SHARES_SINCE: Final = 6
CREATE_VERSION: Final = 7

NO_SUCH_KIND: Final = "There is no such kind of coordinator."

GROUP: Final = 0
TRANSACTION: Final = 1
SHARE: Final = 2
TOPICS: Final[Mapping[int, str]] = {GROUP: OFFSETS, TRANSACTION: TRANSACTIONS, SHARE: SHARES}


class _Found(NamedTuple):
    """A coordinator, or why there is none."""

    code: ErrorCode
    node_id: int = NOBODY
    host: str = ""
    port: int = NOBODY
    text: str = ""


async def handle(broker: Broker, call: Call) -> finding.FindCoordinatorResponse:
    """Answer; see the module."""
    request: finding.FindCoordinatorRequest = call.request
    keys = request.coordinator_keys if call.version >= SEVERAL_SINCE else [request.key]
    topic = TOPICS.get(request.key_type)
    if topic is None:
        found = [_Found(ErrorCode.INVALID_REQUEST, text=NO_SUCH_KIND) for _ in keys]
    else:
        found = await _find_all(broker, call, topic, keys)
    if call.version < SEVERAL_SINCE:
        return _single(found[0])
    return finding.FindCoordinatorResponse(
        coordinators=[
            finding.Coordinator(
                key=key,
                node_id=one.node_id,
                host=one.host,
                port=one.port,
                error_code=one.code,
                error_message=one.text,
            )
            for key, one in zip(keys, found, strict=True)
        ]
    )


async def _find_all(broker: Broker, call: Call, topic: str, keys: list[str]) -> list[_Found]:
    """What is known now; a topic that is missed is asked for."""
    image = broker.image
    bad = [topic == SHARES and _is_no_share(key, call.version) for key in keys]
    if topic not in image.topics and not all(bad):
        await _create(broker, call, topic)
    nodes = alive_nodes(image, call.client.listener)
    return [
        _Found(ErrorCode.INVALID_REQUEST) if is_bad else _find(image, nodes, topic, key)
        for is_bad, key in zip(bad, keys, strict=True)
    ]


def _find(image: Image, nodes: Mapping[int, Node], topic_name: str, key: str) -> _Found:
    topic = image.topics.get(topic_name)
    if topic is None:
        return _Found(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    partition = topic.partitions.get(partition_of(key, len(topic.partitions)))
    node = None if partition is None else nodes.get(partition.leader)
    if node is None:
        return _Found(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return _Found(ErrorCode.NONE, node.broker_id, node.host, node.port)


def _is_no_share(key: str, version: int) -> bool:
    """Whether a key is not `group:topic id:partition`, or comes from who cannot know of shares."""
    group, _, rest = key.partition(":")
    topic_id, _, partition = rest.partition(":")
    return version < SHARES_SINCE or not (group and topic_id and partition.isdecimal())


def _single(found: _Found) -> finding.FindCoordinatorResponse:
    code = found.code
    return finding.FindCoordinatorResponse(
        error_code=code,
        error_message="NONE" if code is ErrorCode.NONE else code.text,
        node_id=found.node_id,
        host=found.host,
        port=found.port,
    )


async def _create(broker: Broker, call: Call, topic: str) -> None:
    settings = broker.layers.settings
    request = CreateTopicsRequest(
        topics=[creatable(topic, settings)], timeout_ms=settings.request_timeout_ms
    )
    await ask(broker, call, request, version=CREATE_VERSION)
