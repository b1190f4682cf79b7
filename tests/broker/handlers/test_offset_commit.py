from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.broker.group_desk import Desk, at_desk

from quire.broker.internal_topics import OFFSETS
from quire.errors import ErrorCode
from quire.groups.coordinator import GroupCoordinator
from quire.protocol.messages import offset_commit as committing

STRANGE_ID = bytes(15) + b"\x09"


def asked(*topics: tuple[str, bytes], partitions: tuple[int, ...] = (0,), **more: Any) -> Any:
    return committing.OffsetCommitRequest(
        group_id="g",
        member_id="",
        topics=[
            committing.OffsetCommitRequestTopic(
                name=name,
                topic_id=topic_id,
                partitions=[
                    committing.OffsetCommitRequestPartition(
                        partition_index=one, committed_offset=10 + one, committed_metadata="note"
                    )
                    for one in partitions
                ],
            )
            for name, topic_id in topics
        ],
        **more,
    )


def stored(desk: Desk) -> dict[int, tuple[int, bytes]]:
    """Offsets and topic ids of the group in `orders`."""
    for _, machine in desk.house.broker.groups.machines():
        assert isinstance(machine, GroupCoordinator)
        found = machine.stored.offsets.get("g", {}).get("orders", {})
        if found:
            return {key: (one.offset, one.topic_id) for key, one in found.items()}
    return {}


@pytest.mark.parametrize("version", range(2, 11))
def test_offsets_are_kept_with_the_topic_s_id_in_every_version(version: int) -> None:
    async def story(desk: Desk) -> None:
        topic = ("", desk.topic_id) if version >= 10 else ("orders", bytes(16))
        answer = await desk.ask(asked(topic, partitions=(0, 2)), version)
        (found,) = answer.topics
        assert [(one.partition_index, one.error_code) for one in found.partitions] == [
            (0, 0), (2, 0),
        ]  # fmt: skip
        assert (found.name, found.topic_id) == topic
        assert stored(desk) == {0: (10, desk.topic_id), 2: (12, desk.topic_id)}

    at_desk(story)


@pytest.mark.parametrize(
    ("version", "code"),
    [(9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), (10, ErrorCode.UNKNOWN_TOPIC_ID)],
)
def test_topics_that_are_not_there_are_refused_and_the_others_kept(
    version: int, code: ErrorCode
) -> None:
    async def story(desk: Desk) -> None:
        by_id = version == 10
        strange = ("", STRANGE_ID) if by_id else ("strange", bytes(16))
        known = ("", desk.topic_id) if by_id else ("orders", bytes(16))
        answer = await desk.ask(asked(strange, known), version)
        codes = [one.partitions[0].error_code for one in answer.topics]
        assert codes == [code, ErrorCode.NONE]
        alone = await desk.ask(asked(strange), version)
        assert alone.topics[0].partitions[0].error_code == code

    at_desk(story)


def test_what_the_coordinator_refuses_is_told_for_each_partition() -> None:
    async def story(desk: Desk) -> None:
        request = asked(("orders", bytes(16)), partitions=(0, 1), generation_id_or_member_epoch=5)
        answer = await desk.ask(request, 9)
        codes = [one.error_code for one in answer.topics[0].partitions]
        assert codes == [ErrorCode.GROUP_ID_NOT_FOUND] * 2
        await desk.elsewhere()
        assert await desk.commit(1) is ErrorCode.NOT_COORDINATOR

    at_desk(story)


def test_one_request_is_one_batch_and_survives_a_takeover() -> None:
    async def story(desk: Desk) -> None:
        await desk.ask(asked(("orders", bytes(16)), partitions=(0, 1, 2)), 9)
        ends = [desk.house.replica(OFFSETS, one).log.log_end_offset for one in range(3)]
        assert sorted(ends) == [0, 0, 3]
        desk.take_over()
        assert await desk.commit(1) is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        await asyncio.sleep(1)
        assert [offset for offset, _ in stored(desk).values()] == [10, 11, 12]

    at_desk(story)


def test_commits_on_one_connection_may_follow_each_other_without_waiting() -> None:
    async def story(desk: Desk) -> None:
        for offset in range(20):
            request = asked(("orders", bytes(16)))
            request.topics[0].partitions[0].committed_offset = offset
            desk.caller.send(request, 9)
        answers = [await desk.caller.answer() for _ in range(20)]
        assert {one.topics[0].partitions[0].error_code for one in answers} == {0}
        assert stored(desk)[0][0] == 19

    at_desk(story)


def test_partitions_that_are_not_there_are_refused_and_the_others_kept() -> None:
    async def story(desk: Desk) -> None:
        answer = await desk.ask(asked(("orders", bytes(16)), partitions=(0, 9, 1)), 9)
        (topic,) = answer.topics
        found = {one.partition_index: one.error_code for one in topic.partitions}
        assert found == {0: 0, 9: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 1: 0}
        assert list(stored(desk)) == [0, 1]

    at_desk(story)
