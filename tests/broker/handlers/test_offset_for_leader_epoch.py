"""OffsetForLeaderEpoch: where the records of each leader ended, for clients that must cut back."""

from __future__ import annotations

from typing import Any

import pytest
from tests.broker.desk import Desk, code_of
from tests.broker.storehouse import NODE, Storehouse, tell

from quire.errors import ErrorCode
from quire.protocol.messages import metadata_records as records
from quire.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)


async def end_of(
    desk: Desk,
    epoch: int,
    *,
    current: int = -1,
    topic: str = "orders",
    version: int = 4,
    **more: int,
) -> Any:
    asked = OffsetForLeaderPartition(partition=0, current_leader_epoch=current, leader_epoch=epoch)
    request = OffsetForLeaderEpochRequest(
        topics=[OffsetForLeaderTopic(topic=topic, partitions=[asked])], **more
    )
    answer = await desk.caller.ask(request, version)
    return answer.topics[0].partitions[0]


async def with_history(house: Storehouse) -> None:
    """Epochs 0 (offsets 0-2), 2 (3-4) and 5 (from 5 on); the leaders between were others."""
    topic_id = await house.topic("orders", replicas=(NODE, 2))
    for count, others in ((3, (2, NODE)), (2, (2, 2, NODE)), (1, ())):
        house.append("orders", count)
        for leader in others:
            await house.learn(
                records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=leader)
            )


@pytest.mark.parametrize("version", [2, 3, 4])
def test_an_epoch_ends_where_the_next_one_begins(version: int) -> None:
    async def story(house: Storehouse) -> None:
        await with_history(house)
        desk = await Desk.open(house)
        expected = {
            -1: (-1, -1), 0: (0, 3), 1: (0, 3), 2: (2, 5), 3: (2, 5), 4: (2, 5), 5: (5, 6),
            6: (-1, -1),
        }  # fmt: skip
        for epoch, found in expected.items():
            answer = await end_of(desk, epoch, version=version)
            assert code_of(answer) is ErrorCode.NONE
            assert (answer.leader_epoch, answer.end_offset) == found, epoch
        assert house.replica("orders").log.high_watermark < 6, "no high watermark bounds it"

    tell(story)


def test_only_the_leader_of_the_epoch_that_the_client_knows_answers() -> None:
    async def story(house: Storehouse) -> None:
        await with_history(house)
        await house.topic("theirs", replicas=(NODE, 2), leader=2)
        desk = await Desk.open(house)
        assert code_of(await end_of(desk, 0, current=5)) is ErrorCode.NONE
        assert code_of(await end_of(desk, 0, current=4)) is ErrorCode.FENCED_LEADER_EPOCH
        assert code_of(await end_of(desk, 0, current=6)) is ErrorCode.UNKNOWN_LEADER_EPOCH
        for asker in (-1, -2, 2):
            theirs = await end_of(desk, 0, topic="theirs", replica_id=asker)
            assert code_of(theirs) is ErrorCode.NOT_LEADER_OR_FOLLOWER
            assert (theirs.leader_epoch, theirs.end_offset) == (-1, -1)
        unknown = await end_of(desk, 0, topic="nowhere")
        assert code_of(unknown) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    tell(story)
