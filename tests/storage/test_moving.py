from __future__ import annotations

import contextlib
from functools import partial

from tests.broker.storehouse import Storehouse, batch_of, tell

from quire.protocol.messages.metadata_records import PartitionChangeRecord
from quire.sim import loop as virtual
from quire.sim.disk import SimulatedCrash
from quire.storage.log import Log
from quire.storage.log_dir import CHECKPOINTS
from quire.storage.lookup import ReadResult
from quire.storage.moving import Copy


def content(log: Log) -> bytes:
    found = log.read(log.log_start_offset, max_bytes=1 << 30, upper_bound_offset=log.log_end_offset)
    assert isinstance(found, ReadResult)
    return found.records.read()


def copy_of(house: Storehouse) -> Copy:
    hosted = house.replica("orders").hosted
    other = next(each for each in house.log_dirs.online if each is not hosted.log_dir)
    copy = Copy(hosted, other, unique=bytes(15) + b"\x01")
    copy.open(house.replicas.open_log)
    return copy


def follow(copy: Copy) -> None:
    while (piece := copy.next(now_ms=1)) is not None:
        copy.take(piece, now_ms=1)


def test_a_copy_has_the_same_bytes_in_a_directory_of_its_own_kind() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders")
        house.append("orders", 3)
        house.append("orders", 4)
        copy = copy_of(house)
        assert copy.directory.endswith(f"/orders-0.{'00' * 15}01-future")
        assert not copy.has_everything
        follow(copy)
        assert copy.has_everything
        assert copy.log is not None
        assert content(copy.log) == content(house.replica("orders").log)
        assert copy.original.topic_id == topic_id
        house.append("orders", 1)
        assert not copy.has_everything

    tell(story, "/a", "/b")


def test_a_copy_begins_where_the_log_begins_inside_a_batch_too() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 3)
        house.append("orders", 3)
        house.replica("orders").log.advance_log_start_offset(4, now_ms=1)
        copy = copy_of(house)
        follow(copy)
        copy.settle(now_ms=1)
        moved = copy.exchange(house.replicas.open_log)
        assert isinstance(moved.log, Log)
        assert moved.log.segments[0].base_offset == 3
        assert (moved.log.log_start_offset, moved.log.log_end_offset) == (4, 6)
        assert moved.log.high_watermark == 6

    tell(story, "/a", "/b")


def test_a_copy_follows_a_log_that_was_cut() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 3)
        house.append("orders", 3)
        copy = copy_of(house)
        follow(copy)
        log = house.replica("orders").log
        log.truncate_to(3, now_ms=1)
        log.append(batch_of(3, value=b"other"), leader_epoch=5, now_ms=1)
        assert not copy.has_everything
        follow(copy)
        assert copy.has_everything
        assert copy.log is not None
        assert content(copy.log) == content(log)
        assert copy.log.leader_epochs.latest_epoch == 5

    tell(story, "/a", "/b")


def test_a_copy_that_fell_behind_the_start_of_the_log_begins_again_there() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        copy = copy_of(house)
        house.append("orders", 3)
        house.append("orders", 3)
        house.replica("orders").log.advance_log_start_offset(3, now_ms=1)
        follow(copy)
        assert copy.has_everything
        assert copy.log is not None
        assert copy.log.log_start_offset == 3

    tell(story, "/a", "/b")


def test_the_exchange_gives_the_copy_its_live_name_and_takes_the_old_one_away() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 3)
        old = house.replica("orders").hosted
        copy = copy_of(house)
        follow(copy)
        copy.settle(now_ms=1)
        moved = copy.exchange(house.replicas.open_log)
        assert moved.directory == f"{copy.to.path}/orders-0"
        assert not house.disk.exists(copy.directory)
        copy.set_aside(f"{old.log_dir.path}/orders-0.{'00' * 16}-delete")
        assert not house.disk.exists(old.directory)

    tell(story, "/a", "/b")


async def struck(operations: int) -> bool:
    """Move a partition on a disk that ends after so many operations; whether it did. Nothing may be lost."""
    house = Storehouse(None, "/a", "/b")
    await house.start()
    topic_id = await house.topic("orders")
    house.append("orders", 3)
    house.append("orders", 3)
    house.replica("orders").log.advance_log_start_offset(2, now_ms=1)
    await house.replicas.flushes.flush(house.replica("orders"))
    for name in CHECKPOINTS:
        await house.replicas.flushes.checkpoint(name)
    hosted = house.replica("orders").hosted
    (to,) = (each for each in house.log_dirs.online if each is not hosted.log_dir)
    assert to.meta is not None
    assert to.meta.directory_id is not None
    await house.learn(
        PartitionChangeRecord(partition_id=0, topic_id=topic_id, directories=[to.meta.directory_id])
    )
    house.disk.faults.fail_after(operations=operations)
    is_struck = True
    with contextlib.suppress(SimulatedCrash):
        copy = Copy(hosted, to, unique=bytes(16))
        to.futures[hosted.topic_partition] = copy.open(house.replicas.open_log)
        follow(copy)
        copy.settle(now_ms=1)
        for name in CHECKPOINTS:
            to.checkpoint(name).run()
        copy.exchange(house.replicas.open_log)
        copy.set_aside(f"{hosted.directory}.{'00' * 16}-delete")
        is_struck = False
    again = Storehouse(house.crash(), "/a", "/b")
    await again.start(house.image)
    log = again.replica("orders").log
    assert (log.log_start_offset, log.log_end_offset) == (2, 6)
    found = log.read(2, max_bytes=1 << 20, upper_bound_offset=6)
    assert isinstance(found, ReadResult)
    assert found.records.size
    return is_struck


def test_a_power_loss_at_any_moment_of_a_move_costs_nothing() -> None:
    operations = 0
    while virtual.run(partial(struck, operations)):
        operations += 1
    assert operations > 30
