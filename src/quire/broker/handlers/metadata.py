"""Metadata: which brokers there are, which topics, and who leads their partitions.

A topic that is not there and may be made is asked of the controller, and is UNKNOWN_TOPIC_OR_PARTITION in this answer:
the client asks again, and it is there.

Versions   0 an empty list asks for all topics, and what is not fully replicated is an error; from 1 null asks for all
           · 4 says whether to create · 6 LISTENER_NOT_FOUND · 8 permitted operations · 10 topic ids in answers
           · 12 topics by id; with names and ids in one request the ids count
Not here   permission (dispatch), creating (the controller).
See        KIP-4, KIP-430, KIP-516
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.forward import ask
from quire.broker.internal_topics import INTERNAL_TOPICS, creatable
from quire.broker.mutations import Allowance
from quire.broker.nodes import Node, alive_nodes, some_broker, state_of
from quire.broker.permitted import CLUSTER_OPERATIONS, TOPIC_OPERATIONS, UNSAID
from quire.controller.topics import name_refusal
from quire.errors import ErrorCode
from quire.metadata.image import Image, Topic
from quire.protocol.messages import metadata
from quire.protocol.messages.create_topics import CreateTopicsRequest
from quire.protocol.schema import ZERO_UUID

BY_ID_SINCE = 12
CREATE_VERSION = 7


def handle(
    broker: Broker, call: Call
) -> metadata.MetadataResponse | Coroutine[Any, Any, metadata.MetadataResponse]:
    """Answer, at once where nothing has to be made; see the module."""
    request: metadata.MetadataRequest = call.request
    malformed = _malformed(request, call.version)
    if malformed is not ErrorCode.NONE:
        return _refused(request, malformed)
    image = broker.image
    nodes = alive_nodes(image, call.client.listener)
    topics, missing, missing_ids = _wanted(request, call.version, image)
    found = [_topic(call, image, topic, nodes) for topic in topics]
    found += [_no_topic(None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID) for topic_id in missing_ids]
    found += [_no_topic(name, ZERO_UUID, _why_missing(name)) for name in missing]
    if request.include_topic_authorized_operations:
        for one in found:
            if one.error_code != ErrorCode.UNKNOWN_TOPIC_ID:
                one.topic_authorized_operations = TOPIC_OPERATIONS
    asks_cluster = request.include_cluster_authorized_operations
    response = metadata.MetadataResponse(
        throttle_time_ms=0,
        brokers=[
            metadata.MetadataResponseBroker(
                node_id=one.broker_id, host=one.host, port=one.port, rack=one.rack
            )
            for one in nodes.values()
        ],
        cluster_id=broker.cluster_id,
        controller_id=some_broker(image, broker.entropy),
        topics=found,
        cluster_authorized_operations=CLUSTER_OPERATIONS if asks_cluster else UNSAID,
    )
    if request.allow_auto_topic_creation and broker.layers.settings.auto_create_topics_enable:
        wanted = [name for name in missing if not _is_bad(name)]
        if wanted:
            return _create(broker, call, wanted, response)
    return response


def _malformed(request: metadata.MetadataRequest, version: int) -> ErrorCode:
    """Why none of a request is answered."""
    for one in request.topics or ():
        if version < BY_ID_SINCE and (one.name is None or one.topic_id != ZERO_UUID):
            return ErrorCode.INVALID_REQUEST
    by_id = any(one.topic_id != ZERO_UUID for one in request.topics or ())
    if not by_id and any(one.name is None for one in request.topics or ()):
        return ErrorCode.UNKNOWN_SERVER_ERROR  # what Kafka says of a topic with neither
    return ErrorCode.NONE


def _refused(request: metadata.MetadataRequest, code: ErrorCode) -> metadata.MetadataResponse:
    return metadata.MetadataResponse(
        error_code=code,
        brokers=[],
        topics=[
            metadata.MetadataResponseTopic(
                error_code=code, name=one.name or "", topic_id=one.topic_id, partitions=[]
            )
            for one in request.topics or ()
        ],
    )


def _wanted(
    request: metadata.MetadataRequest, version: int, image: Image
) -> tuple[list[Topic], list[str], list[bytes]]:
    """The topics asked for that are there, and the names and ids of those that are not."""
    if request.topics is None or (version == 0 and not request.topics):
        return list(image.topics.values()), [], []
    ids = dict.fromkeys(one.topic_id for one in request.topics if one.topic_id != ZERO_UUID)
    if ids:
        known = [topic for one in ids if (topic := image.topic_by_id(one)) is not None]
        return known, [], [one for one in ids if one not in image.topic_names]
    names = dict.fromkeys(one.name for one in request.topics if one.name is not None)
    there = [image.topics[name] for name in names if name in image.topics]
    return there, [name for name in names if name not in image.topics], []


def _topic(
    call: Call, image: Image, topic: Topic, nodes: Mapping[int, Node]
) -> metadata.MetadataResponseTopic:
    partitions = []
    for index, partition in topic.partitions.items():
        state = state_of(
            image,
            partition,
            nodes,
            alive_only=call.version == 0,
            tells_listeners=call.version >= 6,
        )
        partitions.append(
            metadata.MetadataResponsePartition(
                error_code=state.error,
                partition_index=index,
                leader_id=state.leader_id,
                leader_epoch=state.leader_epoch,
                replica_nodes=list(state.replicas),
                isr_nodes=list(state.isr),
                offline_replicas=state.offline,
            )
        )
    return metadata.MetadataResponseTopic(
        error_code=ErrorCode.NONE,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=partitions,
    )


def _no_topic(name: str | None, topic_id: bytes, code: ErrorCode) -> metadata.MetadataResponseTopic:
    return metadata.MetadataResponseTopic(
        error_code=code,
        name=name,
        topic_id=topic_id,
        is_internal=name in INTERNAL_TOPICS,
        partitions=[],
    )


def _is_bad(name: str) -> bool:
    return name_refusal(name) is not None


def _why_missing(name: str) -> ErrorCode:
    if _is_bad(name):
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def _create(
    broker: Broker, call: Call, names: Sequence[str], response: metadata.MetadataResponse
) -> metadata.MetadataResponse:
    """Ask for topics that are missing before the answer is given."""
    settings = broker.layers.settings
    wanted = [creatable(name, settings) for name in names]
    if broker.quotas.active:
        allowance = Allowance(broker, call, is_strict=False)
        allowance.split((one, max(one.num_partitions, 1)) for one in wanted)
        response.throttle_time_ms = allowance.throttle_ms
    request = CreateTopicsRequest(topics=wanted, timeout_ms=settings.request_timeout_ms)
    await ask(broker, call, request, version=CREATE_VERSION)
    return response
