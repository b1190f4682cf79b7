"""What a scripted broker says of groups: a coordinator, members, offsets, logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.clients.peer import Script, versions

from quire.clients.offsets import EARLIEST, LATEST, READ_COMMITTED
from quire.protocol.apis import ApiKey
from quire.protocol.compiler import codec
from quire.protocol.messages import describe_groups as classic
from quire.protocol.messages import fetch as fetching
from quire.protocol.messages import find_coordinator as finding
from quire.protocol.messages import list_offsets as listing
from quire.protocol.messages import offset_commit as committing
from quire.protocol.messages import offset_fetch as kept
from quire.protocol.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolAssignmentTopicPartition,
)
from quire.records.batch import encode_batch
from quire.records.record import Record

Offsets = Mapping[tuple[str, int], int]


def only_classic(_request: Any, _version: int) -> Any:
    """A broker that knows nothing of consumer groups (KIP-848)."""
    return versions(ConsumerGroupDescribe=-1)


def coordinator(*codes: int) -> Script:
    """Broker 1; before that, these errors."""
    left = list(codes)

    def answer(request: Any, _version: int) -> Any:
        code = left.pop(0) if left else 0
        found = finding.Coordinator(
            key=request.coordinator_keys[0], node_id=1, host="one", port=9092, error_code=code,
            error_message=None,
        )  # fmt: skip
        return finding.FindCoordinatorResponse(coordinators=[found])

    return answer


def assignment(*places: tuple[str, int], version: int = 1) -> bytes:
    content = ConsumerProtocolAssignment(
        assigned_partitions=[
            ConsumerProtocolAssignmentTopicPartition(topic=topic, partitions=[partition])
            for topic, partition in places
        ]
    )
    return version.to_bytes(2) + codec(ConsumerProtocolAssignment, version).encode(content)


def member(name: str, *places: tuple[str, int]) -> classic.DescribedGroupMember:
    return classic.DescribedGroupMember(
        member_id=name, client_id=f"client-{name}", client_host="/10.0.0.1", member_metadata=b"",
        member_assignment=assignment(*places),
    )  # fmt: skip


def described(
    members: Sequence[classic.DescribedGroupMember] = (), *, state: str = "", error: int = 0
) -> Script:
    def answer(request: Any, _version: int) -> Any:
        (name,) = request.groups
        group = classic.DescribedGroup(
            error_code=error, group_id=name,
            group_state=state or ("Stable" if members else "Empty"), protocol_type="consumer",
            protocol_data="range" if members else "", members=list(members),
        )  # fmt: skip
        return classic.DescribeGroupsResponse(groups=[group])

    return answer


def committed(offsets: Offsets) -> Script:
    def answer(request: Any, _version: int) -> Any:
        topics = [
            kept.OffsetFetchResponseTopics(
                name=topic,
                partitions=[
                    kept.OffsetFetchResponsePartitions(
                        partition_index=partition, committed_offset=offset, metadata="",
                        error_code=0,
                    )
                ],
            )
            for (topic, partition), offset in offsets.items()
        ]  # fmt: skip
        group = kept.OffsetFetchResponseGroup(group_id=request.groups[0].group_id, topics=topics)
        return kept.OffsetFetchResponse(groups=[group])

    return answer


def logs(
    bounds: Mapping[tuple[str, int], tuple[int, int]],
    times: Offsets | None = None,
    stable: Offsets | None = None,
) -> Script:
    """Each log from here to there; `times` are what a search by time gives, `stable` the last stable offsets."""

    def offset(place: tuple[str, int], timestamp: int, isolation: int) -> int:
        if timestamp == EARLIEST:
            return bounds[place][0]
        if timestamp == LATEST:
            is_held = isolation == READ_COMMITTED and place in (stable or {})
            return (stable or {})[place] if is_held else bounds[place][1]
        return (times or {}).get(place, -1)

    def answer(request: Any, _version: int) -> Any:
        topics = [
            listing.ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    listing.ListOffsetsPartitionResponse(
                        partition_index=one.partition_index, error_code=0,
                        offset=offset(
                            (topic.name, one.partition_index), one.timestamp,
                            request.isolation_level,
                        ),
                    )
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ]  # fmt: skip
        return listing.ListOffsetsResponse(topics=topics)

    return answer


def fetched(first_ms: int) -> Script:
    """A log whose record at offset N has the timestamp first_ms + N; one record a batch."""

    def answer(request: Any, _version: int) -> Any:
        responses = []
        for topic in request.topics:
            (one,) = topic.partitions
            at = one.fetch_offset
            batch = encode_batch([Record(at, first_ms + at, None, b"v")], base_offset=at)
            data = fetching.PartitionData(
                partition_index=one.partition, error_code=0, high_watermark=1000,
                records=bytes(batch), aborted_transactions=None,
            )  # fmt: skip
            responses.append(
                fetching.FetchableTopicResponse(
                    topic=topic.topic, topic_id=topic.topic_id, partitions=[data]
                )
            )
        return fetching.FetchResponse(
            throttle_time_ms=0, error_code=0, session_id=0, responses=responses
        )

    return answer


def commits(error: int = 0) -> Script:
    def answer(request: Any, _version: int) -> Any:
        topics = [
            committing.OffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    committing.OffsetCommitResponsePartition(
                        partition_index=one.partition_index, error_code=error
                    )
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        return committing.OffsetCommitResponse(topics=topics)

    return answer


A, B = ("orders", 0), ("orders", 1)
TOPICS = {"orders": {0: 1, 1: 1}}


def group(**changed: Script) -> dict[int, Script]:
    """A group without members that has committed 40 of 100 in the one partition, all of 20 in the other."""
    scripts = {
        "API_VERSIONS": only_classic,
        "FIND_COORDINATOR": coordinator(),
        "DESCRIBE_GROUPS": described(),
        "OFFSET_FETCH": committed({A: 40, B: 20}),
        "LIST_OFFSETS": logs({A: (10, 100), B: (0, 20)}),
        "FETCH": fetched(1000),
        "OFFSET_COMMIT": commits(),
        **changed,
    }
    return {ApiKey[name]: script for name, script in scripts.items()}
