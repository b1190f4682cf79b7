from __future__ import annotations

import asyncio

from tests.broker.storehouse import NODE, Storehouse, tell

from quire.broker.replica import Replica
from quire.metadata.image import UNASSIGNED_DIRECTORY
from quire.protocol.messages import metadata_records as records
from quire.sim import loop as virtual
from quire.storage.lookup import ReadResult
from quire.types import TopicPartition


async def heard(house: Storehouse) -> None:
    """The controller is told what there is to tell, and its answer comes back as metadata."""
    for (topic_id, index), directory in list(house.replicas.unreported.items()):
        del house.replicas.unreported[topic_id, index]
        await house.learn(
            records.PartitionChangeRecord(
                partition_id=index, topic_id=topic_id, directories=[directory]
            )
        )


async def settled(house: Storehouse) -> None:
    """Until no replica is on its way."""
    while len(house.replicas.moves):
        await heard(house)
        await asyncio.sleep(0.02)
    await heard(house)


def other_of(house: Storehouse, replica: Replica) -> str:
    return next(path for path in house.paths if path != replica.hosted.log_dir.path)


def begin(house: Storehouse, path: str, topic: str = "orders") -> None:
    (to,) = (each for each in house.log_dirs.log_dirs if each.path == path)
    house.replicas.moves.begin(house.replica(topic), to)


def names(house: Storehouse, path: str) -> list[str]:
    return [name for name in house.disk.list(path) if name.startswith("orders-")]


def count(house: Storehouse) -> int:
    log = house.replica("orders").log
    found = log.read(0, max_bytes=1 << 20, upper_bound_offset=log.high_watermark)
    assert isinstance(found, ReadResult)
    return found.records.size


def test_a_replica_moves_with_all_it_has_and_the_controller_knows() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders")
        house.append("orders", 3)
        before = house.replica("orders")
        size, start, to = count(house), before.hosted.log_dir.path, other_of(house, before)
        begin(house, to)
        await settled(house)
        after = house.replica("orders")
        assert after is not before
        assert after.hosted.directory == f"{to}/orders-0"
        assert (after.log.log_end_offset, after.log.high_watermark, count(house)) == (3, 3, size)
        partition = house.image.partition(topic_id, 0)
        assert partition is not None
        assert after.hosted.log_dir.meta is not None
        assert partition.directory_of(NODE) == after.hosted.log_dir.meta.directory_id
        assert names(house, to) == ["orders-0"]
        assert [name[-7:] for name in names(house, start)] == ["-delete"]
        house.append("orders", 2)
        assert after.log.high_watermark == 5

    tell(story, "/a", "/b")


def test_what_is_written_meanwhile_comes_along() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        begin(house, other_of(house, house.replica("orders")))
        for _ in range(20):
            house.append("orders", 1)
            await asyncio.sleep(0.001)
        await settled(house)
        assert house.replica("orders").log.high_watermark == 20

    tell(story, "/a", "/b")


def test_nothing_is_exchanged_before_the_controller_knows() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        replica = house.replica("orders")
        begin(house, other_of(house, replica))
        await asyncio.sleep(5)
        assert house.replica("orders") is replica
        assert len(house.replicas.unreported) == 1
        await settled(house)
        assert house.replica("orders") is not replica

    tell(story, "/a", "/b")


def test_a_move_back_ends_the_move_and_takes_back_what_was_told() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders")
        replica = house.replica("orders")
        here, to = replica.hosted.log_dir, other_of(house, replica)
        begin(house, to)
        await asyncio.sleep(1)
        begin(house, here.path)
        assert len(house.replicas.moves) == 0
        await settled(house)
        assert house.replica("orders") is replica
        partition = house.image.partition(topic_id, 0)
        assert partition is not None
        assert here.meta is not None
        assert partition.directory_of(NODE) == here.meta.directory_id
        await asyncio.sleep(1)
        assert [log_dir.futures for log_dir in house.log_dirs.online] == [{}, {}]
        assert len(house.log_dirs.deletions_due(house.clock.wall_ms())) == 1

    tell(story, "/a", "/b")


def test_a_deleted_topic_ends_the_move() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders")
        begin(house, other_of(house, house.replica("orders")))
        await asyncio.sleep(1)
        await house.learn(records.RemoveTopicRecord(topic_id=topic_id))
        await asyncio.sleep(1)
        assert len(house.replicas.moves) == 0
        assert house.replicas.get("orders", 0) is None
        assert len(house.log_dirs.deletions_due(house.clock.wall_ms() + 60_000)) == 2

    tell(story, "/a", "/b")


def test_a_destination_that_breaks_leaves_the_replica_where_it_is() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 3)
        replica = house.replica("orders")
        to = other_of(house, replica)
        begin(house, to)
        await asyncio.sleep(1)
        house.disk.faults.break_path(to)
        house.append("orders", 3)
        await settled(house)
        await asyncio.sleep(1)
        assert house.replica("orders") is replica
        assert [each.path for each in house.log_dirs.online] == [replica.hosted.log_dir.path]
        assert replica.log.high_watermark == 6

    tell(story, "/a", "/b")


def test_an_exchange_that_the_disk_does_not_let_happen_leaves_the_log_where_it_was() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders")
        house.append("orders", 3)
        origin = house.replica("orders").hosted
        to = other_of(house, house.replica("orders"))
        begin(house, to)
        await asyncio.sleep(1)
        house.disk.faults.break_path(to)
        await settled(house)
        after = house.replica("orders")
        assert after.hosted is origin
        house.append("orders", 3)
        assert after.log.high_watermark == 6
        partition = house.image.partition(topic_id, 0)
        assert partition is not None
        assert origin.log_dir.meta is not None
        assert partition.directory_of(NODE) == origin.log_dir.meta.directory_id

    tell(story, "/a", "/b")


def test_an_exchange_without_room_for_the_checkpoints_does_not_happen() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 3)
        replica = house.replica("orders")
        origin, to = replica.hosted, other_of(house, replica)
        begin(house, to)
        await asyncio.sleep(1)
        house.disk.faults.capacity_bytes = 1
        await settled(house)
        assert house.replica("orders").hosted is origin
        assert len(house.log_dirs.online) == 2
        house.disk.faults.capacity_bytes = None
        begin(house, to)
        await settled(house)
        assert house.replica("orders").hosted.log_dir.path == to
        assert count(house) > 0

    tell(story, "/a", "/b")


def test_an_origin_that_breaks_ends_the_move() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 3)
        origin = house.replica("orders").hosted.log_dir
        begin(house, other_of(house, house.replica("orders")))
        house.disk.faults.break_path(origin.path)
        await asyncio.sleep(1)
        assert house.replicas.get("orders", 0) is None
        assert len(house.replicas.moves) == 0
        assert [each.path for each in house.log_dirs.online] == [
            path for path in house.paths if path != origin.path
        ]

    tell(story, "/a", "/b")


def test_a_move_that_a_crash_interrupted_begins_again() -> None:
    async def story() -> None:
        house = Storehouse(None, "/a", "/b")
        await house.start()
        await house.topic("orders")
        house.append("orders", 3)
        await house.replicas.flushes.flush(house.replica("orders"))
        to = other_of(house, house.replica("orders"))
        begin(house, to)
        await asyncio.sleep(1)
        again = Storehouse(house.crash(), "/a", "/b")
        await again.start(house.image)
        assert len(again.replicas.moves) == 1
        await settled(again)
        assert again.replica("orders").hosted.directory == f"{to}/orders-0"
        assert again.replica("orders").log.log_end_offset == 3
        await again.stop()

    virtual.run(story)


def test_moves_keep_below_their_rate() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        for _ in range(4):
            house.append("orders", 1, value=bytes(1 << 20))
        begin(house, other_of(house, house.replica("orders")))
        began = house.clock.monotonic_ms()
        await settled(house)
        assert 3_000 <= house.clock.monotonic_ms() - began <= 6_000

    tell(story, "/a", "/b", replica_alter_log_dirs_io_max_bytes_per_second=str(1 << 20))


def test_a_replica_that_comes_later_is_made_where_it_is_wanted() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", replicas=(2,), leader=2)
        await house.topic("other")
        taken = house.replica("other").hosted.log_dir
        house.replicas.moves.prefer(TopicPartition("orders", 0), taken)
        await house.learn(
            records.PartitionChangeRecord(
                partition_id=0, topic_id=topic_id, replicas=[NODE, 2],
                directories=[UNASSIGNED_DIRECTORY] * 2,
            )
        )  # fmt: skip
        assert house.replica("orders").hosted.log_dir is taken

    tell(story, "/a", "/b")


def test_a_copy_of_what_is_not_here_is_kept() -> None:
    async def story() -> None:
        house = Storehouse(None, "/a", "/b")
        path = f"/a/gone-0.{'0' * 32}-future"
        house.disk.make_directory(path)
        house.disk.flush_directory("/a")
        await house.start()
        assert house.log_dirs.others == [path]
        assert house.log_dirs.deletions_due(house.clock.wall_ms()) == []

    virtual.run(story)


def test_a_node_that_stops_does_not_wait_for_a_move() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        begin(house, other_of(house, house.replica("orders")))
        await asyncio.sleep(1)
        await house.replicas.settle()
        assert len(house.replicas.moves) == 0

    tell(story, "/a", "/b")
