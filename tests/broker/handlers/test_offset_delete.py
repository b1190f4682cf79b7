from __future__ import annotations

from tests.broker.group_desk import Desk, at_desk

from quire.errors import ErrorCode
from quire.protocol.messages import offset_delete as deleting


def asked(*topics: str, group: str = "g") -> deleting.OffsetDeleteRequest:
    return deleting.OffsetDeleteRequest(
        group_id=group,
        topics=[
            deleting.OffsetDeleteRequestTopic(
                name=name, partitions=[deleting.OffsetDeleteRequestPartition(partition_index=0)]
            )
            for name in topics
        ],
    )


def test_offsets_of_topics_that_there_are_can_be_deleted() -> None:
    async def story(desk: Desk) -> None:
        await desk.commit(1)
        answer = await desk.ask(asked("strange", "orders"), 0)
        assert answer.error_code == ErrorCode.NONE
        found = [(one.name, one.partitions[0].error_code) for one in answer.topics]
        assert found == [
            ("strange", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), ("orders", ErrorCode.NONE),
        ]  # fmt: skip

    at_desk(story)


def test_a_group_needs_a_name() -> None:
    async def story(desk: Desk) -> None:
        answer = await desk.ask(asked("orders", group=""), 0)
        assert (answer.error_code, answer.topics) == (ErrorCode.INVALID_GROUP_ID, [])

    at_desk(story)


def test_a_group_that_is_not_there_or_not_here_is_told_at_the_top() -> None:
    async def story(desk: Desk) -> None:
        answer = await desk.ask(asked("orders"), 0)
        assert (answer.error_code, answer.topics) == (ErrorCode.GROUP_ID_NOT_FOUND, [])
        await desk.elsewhere()
        answer = await desk.ask(asked("orders"), 0)
        assert (answer.error_code, answer.topics) == (ErrorCode.NOT_COORDINATOR, [])

    at_desk(story)
