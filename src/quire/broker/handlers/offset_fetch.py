"""OffsetFetch: how far groups have read.

Versions   2 null topics ask for all, errors of the whole group · 7 stable offsets only · 8 several groups
           · 9 member epochs · 10 topics by id
Not here   groups (quire.groups).
See        KIP-447, KIP-709, KIP-848
"""

from __future__ import annotations

from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.group_requests import Part, take_apart
from quire.errors import ErrorCode
from quire.groups.offsets import FetchOffsets
from quire.metadata.image import Image
from quire.protocol.messages import offset_fetch as fetching

GROUP_ERRORS_SINCE: Final = 2
SEVERAL_SINCE: Final = 8
BY_ID_SINCE: Final = 10
NOTHING: Final = -1


def handle(broker: Broker, call: Call) -> object:
    """Ask each group's coordinator; see the module."""
    request: fetching.OffsetFetchRequest = call.request
    version, image = call.version, broker.image
    groups = request.groups if version >= SEVERAL_SINCE else [_only(request)]
    by_id = version >= BY_ID_SINCE
    strangers = [_leave_known(one, image) if by_id else [] for one in groups]
    parts = [_part(broker, one, request) for one in groups]

    def finish(responses: list[fetching.OffsetFetchResponseGroup]) -> fetching.OffsetFetchResponse:
        if version < SEVERAL_SINCE:
            return _single(responses[0], groups[0], version)
        if by_id:
            for asked, response, unknown in zip(groups, responses, strangers, strict=True):
                _identify(response, image, is_all=asked.topics is None)
                if response.error_code == ErrorCode.NONE:
                    response.topics = [*unknown, *response.topics]
        return fetching.OffsetFetchResponse(groups=responses)

    return take_apart(broker, call, parts, finish)


def _part(
    broker: Broker, group: fetching.OffsetFetchRequestGroup, request: fetching.OffsetFetchRequest
) -> Part:
    def refuse(code: ErrorCode) -> fetching.OffsetFetchResponseGroup:
        return fetching.OffsetFetchResponseGroup(
            group_id=group.group_id, topics=[], error_code=code
        )

    question = FetchOffsets(group, request.require_stable)
    return Part(broker.groups.partition_for(group.group_id), question, refuse)


def _only(request: fetching.OffsetFetchRequest) -> fetching.OffsetFetchRequestGroup:
    """The one group of an older request."""
    topics = request.topics
    return fetching.OffsetFetchRequestGroup(
        group_id=request.group_id,
        topics=None
        if topics is None
        else [
            fetching.OffsetFetchRequestTopics(
                name=topic.name, partition_indexes=topic.partition_indexes
            )
            for topic in topics
        ],
    )


def _single(
    group: fetching.OffsetFetchResponseGroup,
    asked: fetching.OffsetFetchRequestGroup,
    version: int,
) -> fetching.OffsetFetchResponse:
    """The answer to an older request; the oldest tells the group's error in each partition."""
    topics = [
        fetching.OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                fetching.OffsetFetchResponsePartition(
                    partition_index=one.partition_index,
                    committed_offset=one.committed_offset,
                    committed_leader_epoch=one.committed_leader_epoch,
                    metadata=one.metadata,
                    error_code=one.error_code,
                )
                for one in topic.partitions
            ],
        )
        for topic in group.topics
    ]
    if version < GROUP_ERRORS_SINCE and group.error_code != ErrorCode.NONE:
        topics = [
            fetching.OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    fetching.OffsetFetchResponsePartition(
                        partition_index=partition,
                        committed_offset=NOTHING,
                        metadata="",
                        error_code=group.error_code,
                    )
                    for partition in topic.partition_indexes
                ],
            )
            for topic in asked.topics or ()
        ]
    return fetching.OffsetFetchResponse(topics=topics, error_code=group.error_code)


def _leave_known(
    group: fetching.OffsetFetchRequestGroup, image: Image
) -> list[fetching.OffsetFetchResponseTopics]:
    """Leave the topics whose ids are known, with their names; the refusals of the others."""
    refused = []
    known = []
    for topic in group.topics or ():
        name = image.topic_names.get(topic.topic_id)
        if name is not None:
            topic.name = name
            known.append(topic)
            continue
        refused.append(
            fetching.OffsetFetchResponseTopics(
                topic_id=topic.topic_id,
                partitions=[
                    fetching.OffsetFetchResponsePartitions(
                        partition_index=partition,
                        committed_offset=NOTHING,
                        metadata="",
                        error_code=ErrorCode.UNKNOWN_TOPIC_ID,
                    )
                    for partition in topic.partition_indexes
                ],
            )
        )
    if refused:
        group.topics = known
    return refused


def _identify(group: fetching.OffsetFetchResponseGroup, image: Image, *, is_all: bool) -> None:
    """Say topics by their ids; of all that are committed, those that are not there any more are left out."""
    if is_all:
        group.topics = [one for one in group.topics if one.name in image.topics]
        for topic in group.topics:
            topic.topic_id = image.topics[topic.name].topic_id
