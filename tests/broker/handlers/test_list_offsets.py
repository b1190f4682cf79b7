"""ListOffsets: which offset a time or a name stands for, and when that cannot be said yet."""

from __future__ import annotations

from typing import Any

import pytest
from tests.broker.desk import Desk, code_of
from tests.broker.storehouse import NODE, Storehouse, batch_of, tell

from quire.broker.handlers.list_offsets import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
)
from quire.errors import ErrorCode
from quire.protocol.messages import metadata_records as records
from quire.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from quire.records.batch import Record, encode_batch
from quire.records.control import ControlType, encode_control_batch

READ_COMMITTED = 1
FOLLOWER = 2
DEBUGGER = -2


def append(house: Storehouse, *timestamps: int, **fields: Any) -> None:
    """One batch with these timestamps."""
    batch = encode_batch([Record(n, at, b"k", b"v") for n, at in enumerate(timestamps)], **fields)
    house.replicas.append(
        house.replica("orders"),
        batch,
        now_ms=house.clock.wall_ms(),
        monotonic_ms=house.clock.monotonic_ms(),
    )


def found(answer: Any) -> tuple[int, int]:
    assert code_of(answer) is ErrorCode.NONE
    return answer.offset, answer.timestamp


@pytest.mark.parametrize("version", range(1, 12))
def test_both_ends_are_told_in_every_version_with_their_epochs(version: int) -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", leader_epoch=3)
        append(house, 10, 20)
        desk = await Desk.open(house)
        latest = await desk.offset("orders", LATEST, version=version)
        earliest = await desk.offset("orders", EARLIEST, version=version)
        assert (found(latest), found(earliest)) == ((2, -1), (0, -1))
        epoch = 3 if version >= 4 else -1
        assert (latest.leader_epoch, earliest.leader_epoch) == (epoch, epoch)

    tell(story)


def test_a_time_stands_for_the_first_record_that_is_not_earlier() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", segment_bytes="1048576")
        append(house, 100, 300, 200)
        append(house, 250, 400)
        desk = await Desk.open(house)
        asked = {0: (0, 100), 100: (0, 100), 101: (1, 300), 300: (1, 300), 301: (4, 400)}
        for timestamp, expected in asked.items():
            assert found(await desk.offset("orders", timestamp)) == expected
        late = await desk.offset("orders", 401)
        assert (found(late), late.leader_epoch) == ((-1, -1), -1)

    tell(story)


def test_the_largest_timestamp_is_found_wherever_it_is() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        desk = await Desk.open(house)
        assert found(await desk.offset("orders", MAX_TIMESTAMP)) == (-1, -1)
        append(house, 100, 900, 900)
        append(house, 200)
        assert found(await desk.offset("orders", MAX_TIMESTAMP)) == (1, 900)

    tell(story)


def test_what_has_no_timestamp_is_in_no_time() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        append(house, -1)
        desk = await Desk.open(house)
        assert found(await desk.offset("orders", MAX_TIMESTAMP)) == (-1, -1)
        assert found(await desk.offset("orders", 0)) == (-1, -1)

    tell(story)


def test_without_remote_storage_local_is_all_there_is() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        append(house, 100, 200, 300)
        house.replica("orders").log.advance_log_start_offset(1, now_ms=house.clock.wall_ms())
        desk = await Desk.open(house)
        assert found(await desk.offset("orders", EARLIEST)) == (1, -1)
        assert found(await desk.offset("orders", EARLIEST_LOCAL)) == (1, -1)
        for name in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
            answer = await desk.offset("orders", name)
            assert (found(answer), answer.leader_epoch) == ((-1, -1), -1)

    tell(story)


def test_a_name_is_unknown_to_versions_that_are_older_than_it() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        append(house, 100)
        desk = await Desk.open(house)
        for name, since in (
            (MAX_TIMESTAMP, 7), (EARLIEST_LOCAL, 8), (LATEST_TIERED, 9),
            (EARLIEST_PENDING_UPLOAD, 11), (-7, 12),
        ):  # fmt: skip
            before = await desk.offset("orders", name, version=since - 1)
            assert code_of(before) is ErrorCode.UNSUPPORTED_VERSION
            assert (before.offset, before.timestamp) == (-1, -1)
            if since <= 11:
                code = code_of(await desk.offset("orders", name, version=since))
                assert code is ErrorCode.NONE

    tell(story)


def test_consumers_are_told_the_high_watermark_and_followers_the_end() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", replicas=(NODE, 2))
        append(house, 100, 200, 300)
        follower_has(house, 2)
        desk = await Desk.open(house)
        assert found(await desk.offset("orders", LATEST)) == (2, -1)
        assert found(await desk.offset("orders", LATEST, replica_id=FOLLOWER)) == (3, -1)
        assert found(await desk.offset("orders", 300)) == (-1, -1), "nobody sees that record yet"
        assert found(await desk.offset("orders", 300, replica_id=FOLLOWER)) == (2, 300)

    tell(story)


def test_committed_readers_are_told_the_last_stable_offset() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        append(house, 100)
        house.replicas.append(
            house.replica("orders"),
            batch_of(2, timestamp=200, producer_id=4, producer_epoch=0, base_sequence=0,
                     is_transactional=True),
            now_ms=house.clock.wall_ms(),
            monotonic_ms=house.clock.monotonic_ms(),
        )  # fmt: skip
        append(house, 300)
        desk = await Desk.open(house)
        committed = {"isolation_level": READ_COMMITTED}
        assert found(await desk.offset("orders", LATEST)) == (4, -1)
        assert found(await desk.offset("orders", LATEST, **committed)) == (1, -1)
        assert found(await desk.offset("orders", 200)) == (1, 200)
        assert found(await desk.offset("orders", 200, **committed)) == (-1, -1)
        marker = encode_control_batch(
            [(ControlType.COMMIT, bytes(6))], 400, producer_id=4, producer_epoch=0,
            is_transactional=True,
        )  # fmt: skip
        house.replicas.append(
            house.replica("orders"), marker, now_ms=house.clock.wall_ms(),
            monotonic_ms=house.clock.monotonic_ms(), from_client=False,
        )  # fmt: skip
        assert found(await desk.offset("orders", LATEST, **committed)) == (5, -1)

    tell(story)


def test_a_transaction_that_is_older_than_its_leader_does_not_hide_the_last_stable_offset() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders")
        append(house, 100)
        append(house, 200, producer_id=4, producer_epoch=0, base_sequence=0, is_transactional=True)
        for leader in (2, NODE):
            await house.learn(
                records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=leader)
            )
        desk = await Desk.open(house)
        assert house.replica("orders").leader_epoch == 2
        committed = await desk.offset("orders", LATEST, isolation_level=READ_COMMITTED)
        assert found(committed) == (1, -1)

    tell(story)


def test_a_new_leader_does_not_say_what_is_latest_before_it_knows() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", replicas=(NODE, 2), leader=2)
        append_as_follower(house, 3)
        await house.learn(
            records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=NODE)
        )
        house.replicas.advance(house.replica("orders"), 1)
        desk = await Desk.open(house)
        assert code_of(await desk.offset("orders", LATEST)) is ErrorCode.OFFSET_NOT_AVAILABLE
        hidden = await desk.offset("orders", 1_000_000)
        assert found(hidden) == (0, 1_000_000), "what is safe can be told"
        assert found(await desk.offset("orders", EARLIEST)) == (0, -1)
        assert found(await desk.offset("orders", LATEST, replica_id=FOLLOWER)) == (3, -1)
        follower_has(house, 3)
        assert found(await desk.offset("orders", LATEST)) == (3, -1)

    tell(story)


def follower_has(house: Storehouse, end_offset: int) -> None:
    """What the follower's fetch does."""
    replica = house.replica("orders")
    assert replica.leader is not None
    replica.leader.on_follower_fetch(
        FOLLOWER, fetch_offset=end_offset, log_start_offset=0, broker_epoch=9,
        now_ms=house.clock.monotonic_ms(),
    )  # fmt: skip
    house.replicas.advance(replica, replica.leader.high_watermark)


def append_as_follower(house: Storehouse, count: int) -> None:
    house.replica("orders").log.append(
        batch_of(count), leader_epoch=0, now_ms=house.clock.wall_ms(), from_client=False
    )


def test_other_leader_epochs_and_other_leaders_are_refused() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", leader_epoch=5)
        await house.topic("theirs", replicas=(NODE, 2), leader=2)
        desk = await Desk.open(house)
        for epoch, code in (
            (4, ErrorCode.FENCED_LEADER_EPOCH), (5, ErrorCode.NONE), (-1, ErrorCode.NONE),
            (6, ErrorCode.UNKNOWN_LEADER_EPOCH),
        ):  # fmt: skip
            answer = await desk.offset("orders", LATEST, current_leader_epoch=epoch)
            assert code_of(answer) is code
        theirs = await desk.offset("theirs", LATEST)
        assert code_of(theirs) is ErrorCode.NOT_LEADER_OR_FOLLOWER
        debugged = await desk.offset("theirs", LATEST, replica_id=DEBUGGER)
        assert code_of(debugged) is ErrorCode.NONE
        unknown = await desk.offset("nowhere", LATEST)
        assert code_of(unknown) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    tell(story)


def test_a_partition_that_is_asked_for_twice_is_answered_once_with_an_error() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", partitions=2)
        desk = await Desk.open(house)

        def topic(*asked: tuple[int, int]) -> ListOffsetsTopic:
            partitions = [
                ListOffsetsPartition(partition_index=index, timestamp=at) for index, at in asked
            ]
            return ListOffsetsTopic(name="orders", partitions=partitions)

        for topics in (
            [topic((0, LATEST), (0, EARLIEST), (1, LATEST))],
            [topic((0, LATEST), (1, LATEST)), topic((0, EARLIEST))],
        ):
            answer = await desk.caller.ask(ListOffsetsRequest(replica_id=-1, topics=topics), 11)
            (found_topic,) = answer.topics
            codes = {one.partition_index: code_of(one) for one in found_topic.partitions}
            assert codes == {0: ErrorCode.INVALID_REQUEST, 1: ErrorCode.NONE}

    tell(story)


def test_a_broken_disk_is_told_as_such() -> None:
    async def story(house: Storehouse) -> None:
        house.replicas.on_directory_lost = lambda _log_dir, _none_left: None
        await house.topic("orders")
        append(house, 100)
        desk = await Desk.open(house)
        house.disk.faults.break_path("/a")
        assert code_of(await desk.offset("orders", 50)) is ErrorCode.KAFKA_STORAGE_ERROR
        assert house.replicas.get("orders", 0) is None

    tell(story)


def test_an_unknown_isolation_level_is_refused() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        desk = await Desk.open(house)
        told = await desk.offset("orders", LATEST, isolation_level=7)
        assert code_of(told) is ErrorCode.UNKNOWN_SERVER_ERROR

    tell(story)
