from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.broker.caller import Door
from tests.broker.storehouse import NODE, Storehouse, tell

from quire.errors import ErrorCode
from quire.protocol.messages import metadata_records as records
from quire.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from quire.storage.checkpoints import LOG_START_OFFSETS, read_offsets
from quire.types import TopicPartition


def asked(*wanted: tuple[str, int, int], timeout_ms: int = 1000) -> DeleteRecordsRequest:
    return DeleteRecordsRequest(
        topics=[
            DeleteRecordsTopic(
                name=name, partitions=[DeleteRecordsPartition(partition_index=index, offset=offset)]
            )
            for name, index, offset in wanted
        ],
        timeout_ms=timeout_ms,
    )


async def ask(house: Storehouse, request: DeleteRecordsRequest, version: int = 2) -> Any:
    caller = await Door(house).call()
    answer = await caller.ask(request, version)
    return [
        (topic.name, one.partition_index, one.low_watermark, ErrorCode(one.error_code))
        for topic in answer.topics
        for one in topic.partitions
    ]


@pytest.mark.parametrize("version", range(3))
def test_a_log_begins_where_it_was_asked_to(version: int) -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 5)
        answer = await ask(house, asked(("orders", 0, 3)), version)
        assert answer == [("orders", 0, 3, ErrorCode.NONE)]
        assert house.replica("orders").log.log_start_offset == 3

    tell(story)


def test_minus_one_is_the_high_watermark_and_the_files_go() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        for _ in range(3):
            house.append("orders", 2)
            house.replica("orders").log.roll(now_ms=house.clock.wall_ms())
        assert await ask(house, asked(("orders", 0, -1))) == [("orders", 0, 6, ErrorCode.NONE)]
        assert [one.base_offset for one in house.replica("orders").log.segments] == [6]

    tell(story)


def test_a_start_that_has_passed_already_is_an_answer() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 5)
        await ask(house, asked(("orders", 0, 4)))
        assert await ask(house, asked(("orders", 0, 2))) == [("orders", 0, 4, ErrorCode.NONE)]

    tell(story)


def test_the_new_start_is_in_the_checkpoint_and_survives() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 5)
        await ask(house, asked(("orders", 0, 3)))
        await house.replicas.flushes.checkpoint(LOG_START_OFFSETS)
        kept = read_offsets(house.disk, f"/a/{LOG_START_OFFSETS}")
        assert kept == {TopicPartition("orders", 0): 3}

    tell(story)


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (("orders", 0, 6), ErrorCode.OFFSET_OUT_OF_RANGE),
        (("orders", 0, -2), ErrorCode.OFFSET_OUT_OF_RANGE),
        (("orders", 9, 0), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (("nobody", 0, 0), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (("kept", 0, -1), ErrorCode.POLICY_VIOLATION),
        (("both", 0, -1), ErrorCode.NONE),
        (("followed", 0, -1), ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (("elsewhere", 0, -1), ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (("__consumer_offsets", 0, -1), ErrorCode.INVALID_TOPIC_EXCEPTION),
    ],
)
def test_what_may_not_go_stays(wanted: tuple[str, int, int], code: ErrorCode) -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 5)
        await house.topic("kept", cleanup_policy="compact")
        await house.topic("both", cleanup_policy="compact,delete")
        await house.topic("followed", replicas=(NODE, 2), leader=2)
        await house.topic("elsewhere", replicas=(2,), leader=2)
        await house.topic("__consumer_offsets")
        ((_, _, low, found),) = await ask(house, asked(wanted))
        assert found is code
        assert low == (0 if code is ErrorCode.NONE else -1)

    tell(story)


async def with_a_follower(house: Storehouse) -> bytes:
    await house.learn(
        records.RegisterBrokerRecord(
            broker_id=2, incarnation_id=bytes(16), broker_epoch=8, end_points=[], features=[],
            rack=None, fenced=False,
        )
    )  # fmt: skip
    topic_id = await house.topic("orders", replicas=(NODE, 2))
    house.append("orders", 5)
    follow(house, start=0)
    return topic_id


def follow(house: Storehouse, start: int) -> None:
    """The other broker has all records from `start` on."""
    replica = house.replica("orders")
    assert replica.leader is not None
    replica.leader.on_follower_fetch(
        2, fetch_offset=5, log_start_offset=start, broker_epoch=8,
        now_ms=house.clock.monotonic_ms(),
    )  # fmt: skip
    house.replicas.advance(replica, replica.leader.high_watermark)
    house.replicas.changed(replica)


def test_the_answer_waits_for_live_followers() -> None:
    async def story(house: Storehouse) -> None:
        await with_a_follower(house)
        asking = asyncio.ensure_future(ask(house, asked(("orders", 0, 3))))
        await asyncio.sleep(0.1)
        assert not asking.done()
        assert len(house.broker.waiting.delete_records) == 1
        follow(house, start=3)
        assert await asking == [("orders", 0, 3, ErrorCode.NONE)]
        assert len(house.broker.waiting.delete_records) == 0

    tell(story)


def test_an_answer_that_waits_too_long_says_how_far_it_came() -> None:
    async def story(house: Storehouse) -> None:
        await with_a_follower(house)
        began = house.clock.monotonic_ms()
        answer = await ask(house, asked(("orders", 0, 3), timeout_ms=500))
        assert answer == [("orders", 0, 0, ErrorCode.REQUEST_TIMED_OUT)]
        assert house.clock.monotonic_ms() - began >= 500

    tell(story)


def test_who_waits_is_told_when_the_leader_is_another() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await with_a_follower(house)
        asking = asyncio.ensure_future(ask(house, asked(("orders", 0, 3))))
        await asyncio.sleep(0.1)
        await house.learn(
            records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=2)
        )
        assert await asking == [("orders", 0, -1, ErrorCode.NOT_LEADER_OR_FOLLOWER)]

    tell(story)


def test_a_disk_that_fails_is_an_answer() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 2)
        house.replica("orders").log.roll(now_ms=house.clock.wall_ms())
        house.disk.faults.break_path("/a/orders-0")
        answer = await ask(house, asked(("orders", 0, -1)))
        assert answer == [("orders", 0, -1, ErrorCode.KAFKA_STORAGE_ERROR)]
        assert house.replicas.get("orders", 0) is None

    tell(story, "/a", "/b")
