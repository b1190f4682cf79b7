from __future__ import annotations

from typing import Any

import pytest
from tests.broker.group_desk import Desk, at_desk

from quire.errors import ErrorCode
from quire.protocol.messages import offset_fetch as fetching

STRANGE_ID = bytes(15) + b"\x09"


def by_group(
    *groups: str, topics: list[tuple[str, bytes]] | None = None, **more: Any
) -> fetching.OffsetFetchRequest:
    return fetching.OffsetFetchRequest(
        groups=[
            fetching.OffsetFetchRequestGroup(
                group_id=group,
                topics=None
                if topics is None
                else [
                    fetching.OffsetFetchRequestTopics(
                        name=name, topic_id=topic_id, partition_indexes=[0, 1]
                    )
                    for name, topic_id in topics
                ],
            )
            for group in groups
        ],
        **more,
    )


def older(*, is_all: bool = False) -> fetching.OffsetFetchRequest:
    topic = fetching.OffsetFetchRequestTopic(name="orders", partition_indexes=[0, 1])
    return fetching.OffsetFetchRequest(group_id="g", topics=None if is_all else [topic])


@pytest.mark.parametrize("version", range(1, 8))
def test_one_group_s_offsets_are_told_in_older_versions(version: int) -> None:
    async def story(desk: Desk) -> None:
        await desk.commit(42)
        answer = await desk.ask(older(), version)
        (topic,) = answer.topics
        assert [one.committed_offset for one in topic.partitions] == [42, -1]
        assert answer.error_code == ErrorCode.NONE
        if version >= 2:
            (topic,) = (await desk.ask(older(is_all=True), version)).topics
            assert [one.partition_index for one in topic.partitions] == [0]

    at_desk(story)


@pytest.mark.parametrize("version", [8, 9, 10])
def test_several_groups_are_told_at_once(version: int) -> None:
    async def story(desk: Desk) -> None:
        await desk.commit(42)
        await desk.commit(43, group_id="h")
        topic = ("", desk.topic_id) if version == 10 else ("orders", bytes(16))
        for topics in (None, [topic]):
            answer = await desk.ask(by_group("g", "h", "nobody", topics=topics), version)
            found = [
                (one.group_id, [topic.partitions[0].committed_offset for topic in one.topics])
                for one in answer.groups
            ]
            nothing: list[int] = [] if topics is None else [-1]
            assert found == [("g", [42]), ("h", [43]), ("nobody", nothing)]
            assert (answer.groups[0].topics[0].name, answer.groups[0].topics[0].topic_id) == topic

    at_desk(story)


def test_ids_that_are_not_known_are_refused_each() -> None:
    async def story(desk: Desk) -> None:
        await desk.commit(42)
        topics = [("", desk.topic_id), ("", STRANGE_ID)]
        (group,) = (await desk.ask(by_group("g", topics=topics), 10)).groups
        found = {one.topic_id: [part.error_code for part in one.partitions] for one in group.topics}
        assert found == {
            desk.topic_id: [0, 0],
            STRANGE_ID: [ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_ID],
        }

    at_desk(story)


def test_a_group_s_error_is_told_where_the_version_has_a_place_for_it() -> None:
    async def story(desk: Desk) -> None:
        await desk.elsewhere()
        first = await desk.ask(older(), 1)
        codes = [one.error_code for one in first.topics[0].partitions]
        assert codes == [ErrorCode.NOT_COORDINATOR] * 2
        second = await desk.ask(older(), 2)
        assert (second.error_code, second.topics) == (ErrorCode.NOT_COORDINATOR, [])
        later = await desk.ask(by_group("g", "h"), 8)
        codes = [one.error_code for one in later.groups]
        assert codes == [ErrorCode.NOT_COORDINATOR] * 2

    at_desk(story)


def test_no_groups_get_an_empty_answer() -> None:
    async def story(desk: Desk) -> None:
        assert (await desk.ask(by_group(), 9)).groups == []

    at_desk(story)
