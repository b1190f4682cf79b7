"""DescribeTopicPartitions: partitions of topics page by page, with who is eligible to lead.

Topics come in the order of their names. A page has at most as many partitions as was asked for, never more than
max.request.partition.size.limit, and at least one; where it ends, its cursor says where the next begins. A page that
ends with a topic's last partition points at the next topic; topics that are not there take no room.

Versions   0
See        KIP-966
"""

from __future__ import annotations

from collections.abc import Mapping

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.internal_topics import INTERNAL_TOPICS
from quire.broker.nodes import Node, alive_nodes, state_of
from quire.broker.permitted import TOPIC_OPERATIONS
from quire.controller.topics import name_refusal
from quire.errors import ErrorCode
from quire.metadata.image import Image, Topic
from quire.protocol.messages import describe_topic_partitions as pages
from quire.protocol.schema import ZERO_UUID


def handle(broker: Broker, call: Call) -> pages.DescribeTopicPartitionsResponse:
    """Answer; see the module."""
    request: pages.DescribeTopicPartitionsRequest = call.request
    image, cursor = broker.image, request.cursor
    asks_all = not request.topics
    names = sorted(image.topics if asks_all else {one.name for one in request.topics})
    if cursor is not None:
        names = [name for name in names if name >= cursor.topic_name]
        is_strange = not asks_all and cursor.topic_name not in names
        if cursor.partition_index < 0 or is_strange:
            return _refused(request)
    limit = min(
        broker.layers.settings.max_request_partition_size_limit, request.response_partition_limit
    )
    room = max(limit, 1)
    nodes = alive_nodes(image, call.client.listener)
    answer = pages.DescribeTopicPartitionsResponse(throttle_time_ms=0, topics=[])
    for name in names:
        if not room:
            answer.next_cursor = _cursor(name, 0)
            break
        topic = image.topics.get(name)
        if topic is None:
            answer.topics.append(_no_topic(name))
            continue
        at_cursor = cursor is not None and cursor.topic_name == name
        first = cursor.partition_index if cursor is not None and at_cursor else 0
        last = min(first + room, len(topic.partitions))
        answer.topics.append(_topic(image, topic, range(first, last), nodes))
        if last < len(topic.partitions):
            answer.next_cursor = _cursor(name, last)
            break
        room -= max(0, last - first)
    return answer


def _topic(
    image: Image, topic: Topic, indexes: range, nodes: Mapping[int, Node]
) -> pages.DescribeTopicPartitionsResponseTopic:
    partitions = []
    for index in indexes:
        partition = topic.partitions[index]
        state = state_of(image, partition, nodes)
        partitions.append(
            pages.DescribeTopicPartitionsResponsePartition(
                error_code=state.error,
                partition_index=index,
                leader_id=state.leader_id,
                leader_epoch=state.leader_epoch,
                replica_nodes=list(state.replicas),
                isr_nodes=list(state.isr),
                eligible_leader_replicas=list(partition.elr),
                last_known_elr=list(partition.last_known_elr),
                offline_replicas=state.offline,
            )
        )
    return pages.DescribeTopicPartitionsResponseTopic(
        error_code=ErrorCode.NONE,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=partitions,
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def _no_topic(name: str) -> pages.DescribeTopicPartitionsResponseTopic:
    is_bad = name_refusal(name) is not None
    return pages.DescribeTopicPartitionsResponseTopic(
        error_code=ErrorCode.INVALID_TOPIC_EXCEPTION
        if is_bad
        else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        name=name,
        topic_id=ZERO_UUID,
        is_internal=name in INTERNAL_TOPICS,
        partitions=[],
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def _refused(
    request: pages.DescribeTopicPartitionsRequest,
) -> pages.DescribeTopicPartitionsResponse:
    """The cursor is not within what was asked."""
    return pages.DescribeTopicPartitionsResponse(
        throttle_time_ms=0,
        topics=[
            pages.DescribeTopicPartitionsResponseTopic(
                error_code=ErrorCode.INVALID_REQUEST,
                name=one.name,
                topic_id=ZERO_UUID,
                partitions=[],
            )
            for one in request.topics
        ],
    )


def _cursor(name: str, index: int) -> pages.DescribeTopicPartitionsResponseCursor:
    return pages.DescribeTopicPartitionsResponseCursor(topic_name=name, partition_index=index)
