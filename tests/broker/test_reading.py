"""One partition of a fetch: bounds, epochs, diverging logs, aborted transactions, followers' progress."""

from __future__ import annotations

from typing import Any

import pytest
from tests.broker.storehouse import NODE, Storehouse, batch_of, tell

from quire.broker.fetch_sessions import Wanted
from quire.broker.reading import READ_COMMITTED, Reader, read, size_of, unknown
from quire.errors import ErrorCode
from quire.protocol.messages import metadata_records as records
from quire.protocol.messages.fetch import PartitionData
from quire.records.batch import iterate_headers
from quire.records.control import ControlType, encode_control_batch
from quire.storage.file_slice import FileSlice

CONSUMER = Reader(-1, -1, 0, only_leader=False)
COMMITTED = Reader(-1, -1, READ_COMMITTED, only_leader=False)
FOLLOWER = Reader(2, 9, 0, only_leader=True)


def asked(
    house: Storehouse, wanted: Wanted | int, reader: Reader = CONSUMER, **limits: Any
) -> PartitionData:
    if isinstance(wanted, int):
        wanted = Wanted(wanted, 1 << 20)
    limits.setdefault("max_bytes", 1 << 20)
    limits.setdefault("min_one", True)
    return read(house.broker, house.replica("orders"), wanted, reader, **limits)


def offsets(answer: PartitionData) -> list[int]:
    """The base offsets of its whole batches."""
    records: object = answer.records
    content = records.read() if isinstance(records, FileSlice) else b""
    return [header.base_offset for _, header in iterate_headers(content)]


def in_transaction(house: Storehouse, producer_id: int, sequence: int = 0) -> int:
    """One record of an open transaction; its offset."""
    batch = batch_of(
        1, producer_id=producer_id, producer_epoch=0, base_sequence=sequence, is_transactional=True
    )
    return append(house, batch)


def end_of_transaction(house: Storehouse, producer_id: int, ends_as: ControlType) -> int:
    marker = encode_control_batch(
        [(ends_as, bytes(6))], 1_000_000, producer_id=producer_id, producer_epoch=0,
        is_transactional=True,
    )  # fmt: skip
    return append(house, marker, from_client=False)


def append(house: Storehouse, batch: bytearray, **more: Any) -> int:
    outcome: Any = house.replicas.append(
        house.replica("orders"), batch, now_ms=house.clock.wall_ms(),
        monotonic_ms=house.clock.monotonic_ms(), **more,
    )  # fmt: skip
    offset: int = outcome.first_offset
    return offset


def test_below_the_start_and_above_the_end_is_out_of_range_and_the_end_is_empty() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        for _ in range(3):
            house.append("orders", 2)
        house.replica("orders").log.advance_log_start_offset(2, now_ms=house.clock.wall_ms())
        for offset in (-1, 0, 1, 7):
            answer = asked(house, offset)
            assert answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
            assert (answer.high_watermark, answer.log_start_offset) == (-1, -1)
        end = asked(house, 6)
        assert (end.error_code, offsets(end)) == (ErrorCode.NONE, [])
        assert (end.high_watermark, end.log_start_offset) == (6, 2)
        assert offsets(asked(house, 3)) == [2, 4], "the batch that holds the offset comes whole"

    tell(story)


def test_above_the_high_watermark_is_empty_and_no_error_for_consumers() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", replicas=(NODE, 2))
        for _ in range(3):
            house.append("orders", 2)
        asked(house, 4, FOLLOWER)
        assert offsets(asked(house, 0)) == [0, 2], "nothing above the high watermark"
        for offset in (4, 5, 6):
            answer = asked(house, offset)
            assert (answer.error_code, offsets(answer)) == (ErrorCode.NONE, [])
        assert asked(house, 7).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
        assert offsets(asked(house, 4, FOLLOWER)) == [4]

    tell(story)


def test_limits_cut_at_the_end_and_one_whole_batch_is_given_where_it_must_be() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        for _ in range(3):
            house.append("orders", 2)
        size = len(batch_of(2))
        assert size_of(asked(house, 0, max_bytes=2 * size + 10)) == 2 * size + 10
        assert size_of(asked(house, 0, max_bytes=1)) == size
        assert size_of(asked(house, 0, max_bytes=1, min_one=False)) == 0
        assert asked(house, 0, max_bytes=-1).error_code == ErrorCode.UNKNOWN_SERVER_ERROR

    tell(story)


@pytest.mark.parametrize(
    ("last_fetched", "offset", "diverging"),
    [
        (0, 3, (-1, -1)),
        (0, 2, (-1, -1)),
        (0, 4, (0, 3)),
        (1, 3, (0, 3)),
        (2, 5, (-1, -1)),
        (2, 6, (2, 5)),
        (4, 9, (2, 5)),
        (5, 6, (-1, -1)),
    ],
)
def test_a_fetcher_whose_log_went_another_way_is_told_where(
    last_fetched: int, offset: int, diverging: tuple[int, int]
) -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", replicas=(NODE, 2))
        for count, others in ((3, (2, NODE)), (2, (2, 2, NODE)), (1, ())):
            house.append("orders", count)
            for leader in others:
                await house.learn(
                    records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=leader)
                )
        wanted = Wanted(offset, 1 << 20, current_leader_epoch=5, last_fetched_epoch=last_fetched)
        answer = asked(house, wanted, FOLLOWER)
        found = answer.diverging_epoch
        assert (answer.error_code, found.epoch, found.end_offset) == (ErrorCode.NONE, *diverging)
        if found.epoch >= 0:
            assert offsets(answer) == []
            leader = house.replica("orders").leader
            assert leader is not None
            assert leader.followers[2].log_end_offset == -1, "it does not have what it asked behind"

    tell(story)


def test_an_epoch_that_this_log_never_had_is_out_of_range() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", leader_epoch=3)
        house.append("orders", 2)
        house.replica("orders").log.advance_log_start_offset(1, now_ms=house.clock.wall_ms())
        for wanted in (Wanted(2, 100, -1, 4), Wanted(2, 100, -1, 9), Wanted(0, 100, -1, 3)):
            assert asked(house, wanted).error_code == ErrorCode.OFFSET_OUT_OF_RANGE

    tell(story)


def test_other_leader_epochs_are_fenced_before_anything_is_read() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", leader_epoch=3)
        for epoch, code in (
            (2, ErrorCode.FENCED_LEADER_EPOCH), (3, ErrorCode.NONE),
            (4, ErrorCode.UNKNOWN_LEADER_EPOCH),
        ):  # fmt: skip
            assert asked(house, Wanted(0, 100, epoch)).error_code == code

    tell(story)


def test_committed_readers_stop_at_the_first_open_transaction() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 1)
        in_transaction(house, 5)
        house.append("orders", 1)
        assert offsets(asked(house, 0)) == [0, 1, 2]
        answer = asked(house, 0, COMMITTED)
        assert (offsets(answer), answer.aborted_transactions) == ([0], [])
        assert (answer.last_stable_offset, answer.high_watermark) == (1, 3)
        assert offsets(asked(house, 1, COMMITTED)) == []
        end_of_transaction(house, 5, ControlType.COMMIT)
        answer = asked(house, 0, COMMITTED)
        assert (offsets(answer), answer.aborted_transactions) == ([0, 1, 2, 3], [])

    tell(story)


def test_committed_readers_are_told_which_transactions_were_aborted() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        first = in_transaction(house, 5)
        second = in_transaction(house, 6)
        end_of_transaction(house, 5, ControlType.ABORT)
        end_of_transaction(house, 6, ControlType.COMMIT)
        third = in_transaction(house, 5, 1)
        end_of_transaction(house, 5, ControlType.ABORT)

        def told(offset: int, reader: Reader = COMMITTED) -> list[tuple[int, int]] | None:
            found = asked(house, offset, reader).aborted_transactions
            return None if found is None else [(one.producer_id, one.first_offset) for one in found]

        assert told(0) == [(5, first), (5, third)]
        assert told(second) == [(5, first), (5, third)], "its marker is still to come"
        assert told(third) == [(5, third)]
        assert told(0, CONSUMER) is None

    tell(story)


def test_a_followers_fetch_moves_the_high_watermark_and_may_bring_it_into_the_isr() -> None:
    async def story(house: Storehouse) -> None:
        await house.learn(
            records.RegisterBrokerRecord(
                broker_id=2, incarnation_id=bytes(16), broker_epoch=9, features=[], rack=None,
                fenced=False, end_points=[],
            )
        )  # fmt: skip
        await house.topic("orders", replicas=(NODE, 2), isr=(NODE,))
        house.append("orders", 4)
        replica = house.replica("orders")
        assert asked(house, 2, FOLLOWER).error_code == ErrorCode.NONE
        assert house.replicas.isr_changes == {}, "it is behind the high watermark"
        asked(house, 4, FOLLOWER)
        assert house.replicas.isr_changes[replica].isr == ((NODE, 7), (2, 9))
        house.append("orders", 1)
        assert replica.log.high_watermark == 4, "it counts from the moment on that it was asked for"
        assert asked(house, 5, FOLLOWER).high_watermark == 5

    tell(story)


def test_a_disk_that_cannot_be_read_takes_the_replica_away() -> None:
    async def story(house: Storehouse) -> None:
        house.replicas.on_directory_lost = lambda _log_dir, _none_left: None
        await house.topic("orders", segment_bytes="1048576")
        house.append("orders", 1)
        replica = house.replica("orders")
        house.disk.faults.break_path("/a")
        answer = read(house.broker, replica, Wanted(0, 100), CONSUMER, max_bytes=100, min_one=True)
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert house.replicas.get("orders", 0) is None

    tell(story)


def test_what_is_not_here_says_so_with_an_empty_list_of_aborts() -> None:
    answer = unknown(3, ErrorCode.UNKNOWN_TOPIC_ID)
    assert (answer.partition_index, answer.high_watermark) == (3, -1)
    assert (answer.records, answer.aborted_transactions) == (b"", [])
