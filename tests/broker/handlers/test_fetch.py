"""Fetch: what is given at once, what is waited for, how much, and who is sent elsewhere."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.broker.desk import Desk, code_of, one_of, values_of
from tests.broker.storehouse import BROKER_EPOCH, NODE, Storehouse, batch_of, tell

from quire.errors import ErrorCode
from quire.protocol.messages import metadata_records as records
from quire.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)
from quire.records.batch import HEADER_SIZE

SECOND = records.RegisterBrokerRecord(
    broker_id=2, incarnation_id=bytes(16), broker_epoch=8, features=[], rack="r", fenced=False,
    end_points=[
        records.BrokerEndpoint(name="PLAINTEXT", host="second", port=9192, security_protocol=0)
    ],
)  # fmt: skip


def several(*wanted: tuple[int, int], topic: str = "orders", **more: Any) -> FetchRequest:
    """A request for (partition, offset) of one topic."""
    more.setdefault("max_wait_ms", 0)
    more.setdefault("min_bytes", 1)
    limit = more.pop("partition_max_bytes", 1 << 20)
    partitions = [
        FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=limit)
        for index, offset in wanted
    ]
    topics = [FetchTopic(topic=topic, partitions=partitions)] if wanted else []
    return FetchRequest(topics=topics, **more)


def told(answer: Any) -> dict[int, Any]:
    return {one.partition_index: one for topic in answer.responses for one in topic.partitions}


async def is_quiet(desk: Desk, seconds: float) -> bool:
    await asyncio.sleep(seconds)
    return desk.caller.answers.empty()


@pytest.mark.parametrize("version", range(4, 19))
def test_what_was_appended_is_read_in_every_version(version: int) -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", partitions=2)
        house.append("orders", 3, partition=1)
        desk = await Desk.open(house)
        topic = topic_id if version >= 13 else "orders"
        found = await desk.fetch(topic, 1, partition=1, version=version)
        assert (code_of(found), found.partition_index) == (ErrorCode.NONE, 1)
        assert (found.high_watermark, found.last_stable_offset) == (3, 3)
        assert found.log_start_offset == (0 if version >= 5 else -1)
        assert values_of(found) == [(offset, b"v") for offset in range(3)], "whole batches"
        assert found.aborted_transactions is None

    tell(story)


def test_at_the_end_a_fetch_waits_for_as_long_as_it_says() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 2)
        desk = await Desk.open(house)
        begun_ms = house.clock.monotonic_ms()
        found = await desk.fetch("orders", 2, max_wait_ms=500)
        assert 500 <= house.clock.monotonic_ms() - begun_ms < 700
        assert (code_of(found), values_of(found)) == (ErrorCode.NONE, [])

    tell(story)


def test_an_append_wakes_who_waits_for_it() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", partitions=2)
        desk = await Desk.open(house)
        desk.caller.send(several((0, 0), (1, 0), max_wait_ms=30_000), 12)
        assert await is_quiet(desk, 3)
        house.append("orders", 1, partition=1)
        answer = told(await desk.caller.answer())
        assert values_of(answer[0]) == []
        assert values_of(answer[1]) == [(0, b"v")]

    tell(story)


def test_min_bytes_are_counted_over_all_partitions() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", partitions=2)
        desk = await Desk.open(house)
        size = len(batch_of(1))
        request = several((0, 0), (1, 0), max_wait_ms=30_000, min_bytes=2 * size + 1)
        desk.caller.send(request, 12)
        for index in (0, 1):
            assert await is_quiet(desk, 2)
            house.append("orders", 1, partition=index)
        assert await is_quiet(desk, 2)
        house.append("orders", 1, partition=0)
        answer = told(await desk.caller.answer())
        assert [len(values_of(answer[index])) for index in (0, 1)] == [2, 1]

    tell(story)


def test_when_time_is_up_less_than_min_bytes_is_given() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 1)
        desk = await Desk.open(house)
        found = await desk.fetch("orders", 0, max_wait_ms=200, min_bytes=100_000)
        assert values_of(found) == [(0, b"v")]

    tell(story)


def test_consumers_do_not_see_what_followers_do_not_have_yet() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", replicas=(NODE, 2))
        house.append("orders", 2)
        desk, follower = await Desk.open(house), await Desk.open(house)
        assert values_of(await desk.fetch("orders", 0)) == []
        desk.send_fetch("orders", 0, max_wait_ms=30_000)
        assert await is_quiet(desk, 2)
        found = await follower.fetch(topic_id, 0, follower=(2, 9), current_leader_epoch=0)
        assert [offset for offset, _ in values_of(found)] == [0, 1]
        assert found.high_watermark == 0
        assert await is_quiet(desk, 2)
        found = await follower.fetch(topic_id, 2, follower=(2, 9), current_leader_epoch=0)
        assert found.high_watermark == 2, "its own fetch has moved it"
        assert [offset for offset, _ in values_of(one_of(await desk.caller.answer()))] == [0, 1]

    tell(story)


def test_an_error_of_one_partition_is_told_at_once() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", partitions=2)
        desk = await Desk.open(house)
        begun_ms = house.clock.monotonic_ms()
        request = several((0, 0), (1, 9), (5, 0), max_wait_ms=30_000)
        answer = told(await desk.caller.ask(request, 12))
        assert house.clock.monotonic_ms() - begun_ms < 100
        assert {index: code_of(one) for index, one in answer.items()} == {
            0: ErrorCode.NONE,
            1: ErrorCode.OFFSET_OUT_OF_RANGE,
            5: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        }
        assert (answer[1].high_watermark, answer[1].log_start_offset) == (-1, -1)

    tell(story)


def test_the_first_batch_is_whole_however_small_the_limits_are() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", partitions=3)
        for index in (1, 2):
            house.append("orders", 5, partition=index)
        desk = await Desk.open(house)
        request = several((0, 0), (1, 0), (2, 0), max_bytes=1, partition_max_bytes=1)
        answer = told(await desk.caller.ask(request, 12))
        assert [len(values_of(answer[index])) for index in range(3)] == [0, 5, 0]

    tell(story)


def test_limits_of_the_partition_of_the_request_and_of_the_broker_hold() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", partitions=2)
        for _ in range(30):
            for index in (0, 1):
                house.append("orders", 1, partition=index, value=b"x" * 100)
        size = len(batch_of(1, value=b"x" * 100))
        desk = await Desk.open(house)

        async def counts(**limits: int) -> list[int]:
            answer = told(await desk.caller.ask(several((0, 0), (1, 0), **limits), 12))
            return [len(values_of(answer[index])) for index in (0, 1)]

        assert await counts(partition_max_bytes=3 * size) == [3, 3]
        assert await counts(max_bytes=5 * size, partition_max_bytes=3 * size) == [3, 2]
        assert await counts() == [20, 0], "what the broker allows at most"

    tell(story, fetch_max_bytes=str(20 * len(batch_of(1, value=b"x" * 100))))


def test_the_order_of_the_request_decides_who_is_served_first() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", partitions=2)
        for index in (0, 1):
            house.append("orders", 5, partition=index)
        desk = await Desk.open(house)
        answer = await desk.caller.ask(several((1, 0), (0, 0), max_bytes=HEADER_SIZE), 12)
        assert [one.partition_index for one in answer.responses[0].partitions] == [1, 0]
        assert [len(values_of(one)) for one in answer.responses[0].partitions] == [5, 0]

    tell(story)


def test_a_session_tells_only_what_has_changed_and_forgets_what_it_is_told_to() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", partitions=3)
        house.append("orders", 1, partition=0)
        desk = await Desk.open(house)
        first = await desk.caller.ask(several((0, 0), (1, 0), (2, 0), session_epoch=0), 12)
        assert first.session_id > 0
        assert sorted(told(first)) == [0, 1, 2]
        house.append("orders", 1, partition=1)
        house.append("orders", 1, partition=2)
        forgotten = [ForgottenTopic(topic="orders", partitions=[2])]
        second = several((0, 1), session_epoch=1, forgotten_topics_data=forgotten)
        second.session_id = first.session_id
        answer = await desk.caller.ask(second, 12)
        assert answer.session_id == first.session_id
        assert list(told(answer)) == [1], "0 has nothing new, 2 is forgotten"
        wrong = several(session_epoch=7)
        wrong.session_id = first.session_id
        answer = await desk.caller.ask(wrong, 12)
        assert code_of(answer) is ErrorCode.INVALID_FETCH_SESSION_EPOCH
        wrong.session_id += 1
        answer = await desk.caller.ask(wrong, 12)
        assert code_of(answer) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND

    tell(story)


def test_a_fetch_of_nothing_is_answered_at_once() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        answer = await desk.caller.ask(several(max_wait_ms=30_000), 12)
        assert (answer.error_code, answer.responses) == (0, [])
        assert house.clock.monotonic_ms() < 1000

    tell(story)


def test_an_isolation_that_does_not_exist_is_refused_for_every_partition() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", partitions=2)
        desk = await Desk.open(house)
        answer = told(await desk.caller.ask(several((0, 0), (1, 0), isolation_level=2), 11))
        assert {code_of(one) for one in answer.values()} == {ErrorCode.UNKNOWN_SERVER_ERROR}
        assert sorted(answer) == [0, 1]

    tell(story)


def test_a_waiting_consumer_is_sent_away_when_the_leader_is_another_one() -> None:
    async def story(house: Storehouse) -> None:
        await house.learn(SECOND)
        topic_id = await house.topic("orders", replicas=(NODE, 2))
        desk = await Desk.open(house)
        desk.send_fetch(topic_id, 0, current_leader_epoch=0, max_wait_ms=30_000)
        assert await is_quiet(desk, 2)
        await house.learn(
            records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=2)
        )
        answer = await desk.caller.answer()
        found = one_of(answer)
        assert code_of(found) is ErrorCode.FENCED_LEADER_EPOCH
        assert (found.current_leader.leader_id, found.current_leader.leader_epoch) == (2, 1)
        assert [(one.node_id, one.host, one.port) for one in answer.node_endpoints] == [
            (2, "second", 9192)
        ]

    tell(story)


def test_a_waiting_consumer_learns_that_its_topic_is_gone() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders")
        desk = await Desk.open(house)
        desk.send_fetch(topic_id, 0, max_wait_ms=30_000)
        assert await is_quiet(desk, 2)
        await house.learn(records.RemoveTopicRecord(topic_id=topic_id))
        assert code_of(one_of(await desk.caller.answer())) is ErrorCode.UNKNOWN_TOPIC_ID

    tell(story)


def test_consumers_before_version_11_are_served_by_the_leader_only() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", replicas=(NODE, 2))
        house.append("orders", 2)
        house.replicas.advance(house.replica("orders"), 2)
        await house.learn(
            records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=2)
        )
        desk = await Desk.open(house)
        old = await desk.fetch("orders", 0, version=10)
        assert code_of(old) is ErrorCode.NOT_LEADER_OR_FOLLOWER
        new = await desk.fetch("orders", 0, version=11)
        assert (code_of(new), len(values_of(new))) == (ErrorCode.NONE, 2)

    tell(story)


def test_a_consumer_above_its_quota_gets_nothing_but_the_time_to_wait() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 1, value=b"x" * 50_000)
        await house.learn(
            records.ClientQuotaRecord(
                entity=[records.EntityData(entity_type="client-id", entity_name="test")],
                key="consumer_byte_rate", value=1000.0, remove=False,
            )
        )  # fmt: skip
        house.broker.quotas.apply(house.image, house.broker.layers)
        desk = await Desk.open(house)
        answer = await desk.caller.ask(several((0, 0)), 12)
        assert answer.throttle_time_ms > 1000
        assert answer.responses == []
        assert house.replica("orders").figures.bytes_out == 0

    tell(story)


def test_what_goes_out_is_counted_for_consumers_and_followers_apart() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", replicas=(NODE, 2))
        house.append("orders", 2)
        size = len(batch_of(2))
        desk = await Desk.open(house)
        await desk.fetch(topic_id, 0, follower=(2, BROKER_EPOCH))
        await desk.fetch(topic_id, 2, follower=(2, BROKER_EPOCH))
        await desk.fetch(topic_id, 0)
        await desk.fetch(topic_id, 9)
        figures = house.replica("orders").figures
        assert (figures.bytes_out, figures.replication_bytes_out) == (size, size)
        assert (figures.fetches, figures.failed_fetches) == (4, 1)
        everything = house.metrics.all_topics
        assert (everything.bytes_out, everything.replication_bytes_out) == (size, size)

    tell(story)


def test_a_follower_that_is_none_of_the_partition_is_refused() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", replicas=(NODE, 2))
        desk = await Desk.open(house)
        found = await desk.fetch(topic_id, 0, follower=(3, 9), current_leader_epoch=0)
        assert code_of(found) is ErrorCode.UNKNOWN_LEADER_EPOCH
        found = await desk.fetch(topic_id, 0, follower=(3, 9))
        assert code_of(found) is ErrorCode.NOT_LEADER_OR_FOLLOWER

    tell(story)


def test_a_fetch_that_waits_behind_a_roll_is_given_what_came() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 1)
        desk = await Desk.open(house)
        desk.send_fetch("orders", 1, max_wait_ms=30_000, min_bytes=100_000)
        assert await is_quiet(desk, 1)
        house.append("orders", 1)
        assert await is_quiet(desk, 1)
        house.replica("orders").log.roll(now_ms=house.clock.wall_ms())
        house.append("orders", 1)
        assert values_of(one_of(await desk.caller.answer())) == [(1, b"v")]

    tell(story)


def test_a_connection_that_ends_leaves_nothing_waiting() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        desk = await Desk.open(house)
        desk.send_fetch("orders", 0, max_wait_ms=600_000)
        await asyncio.sleep(1)
        assert len(house.broker.waiting.fetch) == 1
        desk.caller.stream.close()
        await asyncio.sleep(1)
        assert len(house.broker.waiting.fetch) == 0

    tell(story)


def test_a_negative_leader_epoch_is_none() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", leader_epoch=3)
        house.append("orders", 3)
        desk = await Desk.open(house)
        found = await desk.fetch("orders", 0, current_leader_epoch=-7, last_fetched_epoch=-7)
        assert values_of(found) == [(offset, b"v") for offset in range(3)]

    tell(story)
