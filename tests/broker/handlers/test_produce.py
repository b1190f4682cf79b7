"""Produce: who may write where, when it is acknowledged, and what is said where it is not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from tests.broker.desk import Desk, code_of, one_of, values_of
from tests.broker.storehouse import NODE, Storehouse, batch_of, tell

from quire.broker.appending import HEAVY_BYTES
from quire.errors import ErrorCode
from quire.metadata.delta import Delta
from quire.protocol.messages import metadata_records as records
from quire.protocol.messages.metadata import MetadataRequest
from quire.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from quire.records.batch import Record, encode_batch
from quire.records.compression import Compression


def follower_has(house: Storehouse, topic: str, end_offset: int, *, replica: int = 2) -> None:
    """What a follower's fetch does."""
    found = house.replica(topic)
    assert found.leader is not None
    found.leader.on_follower_fetch(
        replica, fetch_offset=end_offset, log_start_offset=0, broker_epoch=9,
        now_ms=house.clock.monotonic_ms(),
    )  # fmt: skip
    house.replicas.advance(found, found.leader.high_watermark)


@pytest.mark.parametrize("version", range(3, 14))
def test_a_batch_is_appended_and_read_back_in_every_version(version: int) -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", partitions=2)
        desk = await Desk.open(house)
        topic = topic_id if version >= 13 else "orders"
        await desk.produce(topic, batch_of(2), partition=1, version=version)
        told = await desk.produce(topic, batch_of(3), partition=1, version=version, acks=-1)
        assert (code_of(told), told.index, told.base_offset) == (ErrorCode.NONE, 1, 2)
        assert told.log_append_time_ms == -1
        assert told.log_start_offset == (0 if version >= 5 else -1)
        found = await desk.fetch("orders", 0, partition=1)
        assert values_of(found) == [(offset, b"v") for offset in range(5)]

    tell(story)


def test_each_partition_of_a_request_has_its_own_answer() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("a", partitions=2)
        desk = await Desk.open(house)

        def data(*indexes: int) -> list[PartitionProduceData]:
            return [PartitionProduceData(index=one, records=batch_of(1)) for one in indexes]

        request = ProduceRequest(
            acks=-1,
            timeout_ms=1000,
            topic_data=[
                TopicProduceData(name="a", partition_data=data(1, 7, 0)),
                TopicProduceData(name="nowhere", partition_data=data(0)),
            ],
        )
        answer = await desk.caller.ask(request, 12)
        told = [
            (topic.name, one.index, ErrorCode(one.error_code))
            for topic in answer.responses
            for one in topic.partition_responses
        ]
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert told == [
            ("a", 1, ErrorCode.NONE), ("a", 7, unknown), ("a", 0, ErrorCode.NONE),
            ("nowhere", 0, unknown),
        ]  # fmt: skip

    tell(story)


def test_of_a_partition_that_is_named_twice_the_last_batch_counts() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("a", partitions=2)
        desk = await Desk.open(house)

        def data(index: int, value: bytes) -> TopicProduceData:
            one = PartitionProduceData(index=index, records=batch_of(1, value=value))
            return TopicProduceData(name="a", partition_data=[one])

        request = ProduceRequest(
            acks=-1, timeout_ms=1000,
            topic_data=[data(0, b"first"), data(1, b"other"), data(0, b"last")],
        )  # fmt: skip
        answer = await desk.caller.ask(request, 12)
        assert [
            (topic.name, [(one.index, one.error_code) for one in topic.partition_responses])
            for topic in answer.responses
        ] == [("a", [(0, 0), (1, 0)])]
        assert values_of(await desk.fetch("a", 0)) == [(0, b"last")]

    tell(story)


def test_what_is_no_batch_is_refused_with_words() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("a")
        desk = await Desk.open(house)
        told = await desk.produce("a", bytes(range(256)))
        assert code_of(told) is ErrorCode.CORRUPT_MESSAGE
        assert told.error_message

    tell(story)


def test_acks_0_has_no_answer_and_an_error_ends_the_connection() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        desk = await Desk.open(house)
        desk.send_batch("orders", batch_of(2), acks=0)
        answer = await desk.caller.ask(MetadataRequest(topics=[]), 12)
        assert answer.brokers, "the next answer is the next request's"
        assert house.replica("orders").log.log_end_offset == 2
        desk.send_batch("nowhere", batch_of(2), acks=0)
        assert await desk.caller.is_closed()

    tell(story)


@pytest.mark.parametrize("acks", [-2, 2, 3])
def test_other_acks_than_the_three_are_refused(acks: int) -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        desk = await Desk.open(house)
        told = await desk.produce("orders", batch_of(1), acks=acks)
        assert code_of(told) is ErrorCode.INVALID_REQUIRED_ACKS
        assert house.replica("orders").log.log_end_offset == 0

    tell(story)


def test_acks_all_waits_for_the_followers_and_acks_1_does_not() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", replicas=(NODE, 2))
        desk = await Desk.open(house)
        told = await desk.produce("orders", batch_of(1), acks=1)
        assert (code_of(told), told.base_offset) == (ErrorCode.NONE, 0)
        desk.send_batch("orders", batch_of(2), acks=-1, timeout_ms=30_000)
        await asyncio.sleep(5)
        follower_has(house, "orders", 2)
        await asyncio.sleep(5)
        assert desk.caller.answers.empty(), "the follower has a part of it only"
        follower_has(house, "orders", 3)
        told = one_of(await desk.caller.answer())
        assert (code_of(told), told.base_offset) == (ErrorCode.NONE, 1)

    tell(story)


def test_too_late_is_told_as_timed_out_though_the_batch_is_there() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", replicas=(NODE, 2))
        desk = await Desk.open(house)
        begun_ms = house.clock.monotonic_ms()
        told = await desk.produce("orders", batch_of(2), acks=-1, timeout_ms=700)
        assert 700 <= house.clock.monotonic_ms() - begun_ms < 1000
        assert code_of(told) is ErrorCode.REQUEST_TIMED_OUT
        assert (told.base_offset, told.log_start_offset) == (-1, -1)
        assert house.replica("orders").log.log_end_offset == 2

    tell(story)


def test_later_requests_of_a_connection_are_appended_while_an_earlier_one_waits() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", replicas=(NODE, 2))
        desk = await Desk.open(house)
        for _ in range(3):
            desk.send_batch("orders", batch_of(1), acks=-1, timeout_ms=30_000)
        await asyncio.sleep(1)
        assert house.replica("orders").log.log_end_offset == 3
        follower_has(house, "orders", 3)
        bases = [one_of(await desk.caller.answer()).base_offset for _ in range(3)]
        assert bases == [0, 1, 2]

    tell(story)


def test_below_min_isr_acks_all_is_refused_before_anything_is_written() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", replicas=(NODE, 2), isr=(NODE,), min_insync_replicas="2")
        desk = await Desk.open(house)
        told = await desk.produce("orders", batch_of(1), acks=-1)
        assert code_of(told) is ErrorCode.NOT_ENOUGH_REPLICAS
        assert house.replica("orders").log.log_end_offset == 0
        told = await desk.produce("orders", batch_of(1), acks=1)
        assert code_of(told) is ErrorCode.NONE
        assert house.replica("orders").log.high_watermark == 0, "and nobody sees it yet"

    tell(story)


def test_who_waits_is_told_at_once_when_the_leader_is_another_one() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", replicas=(NODE, 2))
        desk = await Desk.open(house)
        desk.send_batch("orders", batch_of(1), acks=-1, timeout_ms=30_000)
        await asyncio.sleep(1)
        await house.learn(
            records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=2)
        )
        told = one_of(await desk.caller.answer())
        assert code_of(told) is ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert (told.current_leader.leader_id, told.current_leader.leader_epoch) == (2, 1)

    tell(story)


def test_who_waits_is_told_at_once_when_the_topic_is_deleted() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", replicas=(NODE, 2))
        desk = await Desk.open(house)
        desk.send_batch("orders", batch_of(1), acks=-1, timeout_ms=30_000)
        await asyncio.sleep(1)
        await house.learn(records.RemoveTopicRecord(topic_id=topic_id))
        told = one_of(await desk.caller.answer())
        assert code_of(told) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    tell(story)


def test_a_follower_says_who_leads_and_where_from_version_10_on() -> None:
    async def story(house: Storehouse) -> None:
        await house.learn(
            records.RegisterBrokerRecord(
                broker_id=2, incarnation_id=bytes(16), broker_epoch=8, features=[], rack="r",
                fenced=False,
                end_points=[
                    records.BrokerEndpoint(
                        name="PLAINTEXT", host="second", port=9192, security_protocol=0
                    )
                ],
            )
        )  # fmt: skip
        await house.topic("orders", replicas=(NODE, 2), leader=2, leader_epoch=4)
        desk = await Desk.open(house)
        desk.send_batch("orders", batch_of(1), version=10)
        answer = await desk.caller.answer()
        told = one_of(answer)
        assert code_of(told) is ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert (told.current_leader.leader_id, told.current_leader.leader_epoch) == (2, 4)
        (endpoint,) = answer.node_endpoints
        assert endpoint == type(endpoint)(node_id=2, host="second", port=9192, rack="r")
        desk.send_batch("orders", batch_of(1), version=9)
        answer = await desk.caller.answer()
        assert one_of(answer).current_leader.leader_id == -1
        assert answer.node_endpoints == []

    tell(story)


def test_an_unknown_topic_id_is_told_apart_from_an_unknown_name() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        assert code_of(await desk.produce(b"n" * 16, batch_of(1))) is ErrorCode.UNKNOWN_TOPIC_ID
        told = await desk.produce("nowhere", batch_of(1))
        assert code_of(told) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    tell(story)


def test_what_is_meant_for_a_deleted_topic_never_gets_into_the_one_that_has_its_name_now() -> None:
    async def story(house: Storehouse) -> None:
        old = await house.topic("orders")
        seen_by_handlers = house.broker.image
        delta = Delta(house.image)
        delta.replay(records.RemoveTopicRecord(topic_id=old))
        delta.replay(records.TopicRecord(name="orders", topic_id=b"n" * 16))
        delta.replay(
            records.PartitionRecord(
                partition_id=0, topic_id=b"n" * 16, replicas=[NODE], isr=[NODE], leader=NODE,
                removing_replicas=[], adding_replicas=[], leader_epoch=0, partition_epoch=0,
            )
        )  # fmt: skip
        house.image = delta.apply(house.image.offset + 3, 1)
        await house.replicas.apply(house.image, delta.touched, house.broker.layers, 7)
        assert house.broker.image is seen_by_handlers, "the rooms are ahead of the image"
        desk = await Desk.open(house)
        assert code_of(await desk.produce(old, batch_of(1))) is ErrorCode.UNKNOWN_TOPIC_ID
        assert house.replica("orders").log.log_end_offset == 0

    tell(story)


def test_only_kafkas_own_tools_write_to_internal_topics() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("__consumer_offsets")
        desk = await Desk.open(house)
        told = await desk.produce("__consumer_offsets", batch_of(1))
        assert code_of(told) is ErrorCode.INVALID_TOPIC_EXCEPTION
        repair = await Desk.open(house, client_id="__admin_client")
        assert code_of(await repair.produce("__consumer_offsets", batch_of(1))) is ErrorCode.NONE

    tell(story)


@pytest.mark.parametrize("compression", [Compression.NONE, Compression.GZIP])
def test_what_a_coordinator_has_replayed_is_written_before_what_tools_write(
    compression: Compression,
) -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("__consumer_offsets", compression_type="gzip")
        ends: list[int] = []

        class Host:
            def settle(self, partition: int) -> None:
                ends.append(house.replica("__consumer_offsets", partition).log.log_end_offset)

        house.broker.hosts["__consumer_offsets"] = Host()  # type: ignore[assignment]
        repair = await Desk.open(house, client_id="__admin_client")
        told = await repair.produce("__consumer_offsets", batch_of(2, compression=compression))
        assert (code_of(told), told.base_offset, ends) == (ErrorCode.NONE, 0, [0])

    tell(story)


def test_a_transactional_batch_needs_the_id_of_its_transaction() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", partitions=2)
        desk = await Desk.open(house)
        batch = batch_of(1, producer_id=5, producer_epoch=0, base_sequence=0, is_transactional=True)
        told = await desk.produce("orders", batch, acks=-1)
        assert code_of(told) is ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        assert house.replica("orders").log.log_end_offset == 0

    tell(story)


def test_a_heavy_batch_holds_its_connection_and_keeps_its_place() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", max_message_bytes="10000000")
        desk, other = await Desk.open(house), await Desk.open(house)
        now_ms = house.clock.wall_ms()
        noise = [house.entropy.bytes(1000) for _ in range(2 * HEAVY_BYTES // 1000)]
        heavy = encode_batch(
            [Record(n, now_ms, None, value) for n, value in enumerate(noise)],
            compression=Compression.GZIP,
        )
        desk.send_batch("orders", heavy, acks=-1)
        desk.send_batch("orders", batch_of(1), acks=-1)
        first, second = [one_of(await desk.caller.answer()) for _ in range(2)]
        assert house.background.done > 0, "it was unpacked beside the loop"
        assert (first.base_offset, second.base_offset) == (0, len(noise))
        found = values_of(await other.fetch("orders", 0))
        assert [value for _, value in found[: len(noise)]] == noise

    tell(story)


def test_a_partition_that_went_away_while_a_batch_was_unpacked_takes_nothing() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", replicas=(NODE, 2), compression_type="gzip")
        replica = house.replica("orders")
        run = house.background.run

        def slowly(work: Callable[[], object]) -> object:
            if work.__qualname__.startswith("_Produce"):
                return asyncio.get_running_loop().create_task(much_later(work))
            return run(work)

        async def much_later(work: Callable[[], object]) -> object:
            await asyncio.sleep(3)
            return work()

        house.background.run = slowly  # type: ignore[assignment,method-assign]
        desk = await Desk.open(house)
        desk.send_batch("orders", batch_of(1))
        await asyncio.sleep(1)
        await house.learn(
            records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=2)
        )
        told = one_of(await desk.caller.answer())
        assert code_of(told) is ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert replica.log.log_end_offset == 0

    tell(story)


def test_a_failure_in_the_background_ends_the_connection_and_is_heard() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", compression_type="gzip")
        desk = await Desk.open(house)

        async def failing() -> None:
            raise ArithmeticError

        house.background.run = lambda _: failing()  # type: ignore[assignment,method-assign]
        desk.send_batch("orders", batch_of(1))
        await asyncio.sleep(1)
        assert await desk.caller.is_closed()
        assert [line for line in house.journal.lines if "ArithmeticError" in str(line)]

    tell(story)


@pytest.mark.parametrize("acks", [1, -1])
def test_with_fsync_before_ack_nobody_is_answered_before_the_disk_has_it(acks: int) -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        desk = await Desk.open(house)
        told = await desk.produce("orders", batch_of(2), acks=acks)
        assert code_of(told) is ErrorCode.NONE
        log = house.replica("orders").log
        assert log.recovery_point == log.high_watermark == 2
        again = Storehouse(house.crash())
        await again.start(house.image)
        assert again.replica("orders").log.log_end_offset == 2

    tell(story, quire_log_fsync_before_ack="true")


def test_with_fsync_before_ack_a_disk_that_fails_is_told_to_who_waits() -> None:
    async def story(house: Storehouse) -> None:
        house.replicas.on_directory_lost = lambda _log_dir, _none_left: None
        await house.topic("orders")
        desk = await Desk.open(house)
        run = house.background.run

        def breaking(work: Callable[[], object]) -> object:
            house.disk.faults.break_path("/a")
            return run(work)

        house.background.run = breaking  # type: ignore[assignment,method-assign]
        told = await desk.produce("orders", batch_of(1), acks=1)
        assert code_of(told) is ErrorCode.KAFKA_STORAGE_ERROR
        assert told.base_offset == -1

    tell(story, quire_log_fsync_before_ack="true")


def test_a_producer_above_its_quota_is_told_how_long_to_wait() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        await house.learn(
            records.ClientQuotaRecord(
                entity=[records.EntityData(entity_type="client-id", entity_name="test")],
                key="producer_byte_rate", value=1000.0, remove=False,
            )
        )  # fmt: skip
        house.broker.quotas.apply(house.image, house.broker.layers)
        desk = await Desk.open(house)
        desk.send_batch("orders", batch_of(1, value=b"x" * 50_000))
        answer = await desk.caller.answer()
        assert code_of(one_of(answer)) is ErrorCode.NONE, "it is late, not refused"
        assert answer.throttle_time_ms > 1000

    tell(story)
