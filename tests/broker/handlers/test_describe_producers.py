from __future__ import annotations

from typing import Any

from tests.broker.caller import Door
from tests.broker.storehouse import NODE, Storehouse, batch_of, tell

from quire.errors import ErrorCode
from quire.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest


async def ask(house: Storehouse, *wanted: tuple[str, int]) -> list[Any]:
    request = DescribeProducersRequest(
        topics=[TopicRequest(name=name, partition_indexes=[index]) for name, index in wanted]
    )
    answer = await (await Door(house).call()).ask(request, 0)
    return [one for topic in answer.topics for one in topic.partitions]


def write(house: Storehouse, **fields: Any) -> None:
    house.replicas.append(
        house.replica("orders"),
        batch_of(3, timestamp=house.clock.wall_ms(), **fields),
        now_ms=house.clock.wall_ms(),
        monotonic_ms=house.clock.monotonic_ms(),
    )


def test_producers_are_described_as_the_log_knows_them() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        now_ms = house.clock.wall_ms()
        write(house)
        write(house, producer_id=7, producer_epoch=2, base_sequence=0)
        write(house, producer_id=9, producer_epoch=0, base_sequence=0, is_transactional=True)
        (found,) = await ask(house, ("orders", 0))
        assert found.error_code == ErrorCode.NONE
        assert [
            (one.producer_id, one.producer_epoch, one.last_sequence, one.coordinator_epoch,
             one.current_txn_start_offset)
            for one in found.active_producers
        ] == [(7, 2, 2, -1, -1), (9, 0, 2, -1, 6)]  # fmt: skip
        assert {one.last_timestamp for one in found.active_producers} == {now_ms}

    tell(story)


def test_a_follower_answers_and_a_stranger_does_not() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("followed", replicas=(NODE, 2), leader=2)
        await house.topic("elsewhere", replicas=(2,), leader=2)
        found = await ask(
            house, ("followed", 0), ("elsewhere", 0), ("nobody", 0), ("followed", 7), ("a b", 0)
        )
        assert [(one.error_code, bool(one.error_message)) for one in found] == [
            (ErrorCode.NONE, False),
            (ErrorCode.NOT_LEADER_OR_FOLLOWER, False),
            (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, True),
            (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, False),
            (ErrorCode.INVALID_TOPIC_EXCEPTION, True),
        ]

    tell(story)
