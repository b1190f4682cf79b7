from __future__ import annotations

import asyncio

from tests.broker.storehouse import Storehouse, tell

from quire.sim import loop as virtual
from quire.storage.checkpoints import HIGH_WATERMARKS, read_offsets
from quire.types import TopicPartition


def test_who_waits_for_the_disk_is_told_when_it_is_there_and_one_flush_serves_all() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        replica = house.replica("orders")
        told: list[bool] = []
        before = house.metrics.flushes.count
        for _ in range(10):
            house.append("orders", 1)
            house.replicas.flushes.when_durable(replica, replica.log.log_end_offset, told.append)
        assert told == []
        await house.replicas.flushes.settle()
        assert told == [True] * 10
        assert replica.log.recovery_point == 10
        assert house.metrics.flushes.count - before == 1
        house.replicas.flushes.when_durable(replica, 10, told.append)
        assert told == [True] * 11

    tell(story)


def test_appends_during_a_flush_are_served_by_the_next_one() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        replica = house.replica("orders")
        told: list[bool] = []
        for _ in range(3):
            house.append("orders", 1)
            house.replicas.flushes.when_durable(replica, replica.log.log_end_offset, told.append)
            await asyncio.sleep(0.0005)
        await house.replicas.flushes.settle()
        assert told == [True] * 3
        assert replica.log.recovery_point == 3

    tell(story)


def test_who_comes_while_another_flush_runs_is_served_by_one_of_his_own() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        replica = house.replica("orders")
        told: list[bool] = []
        house.append("orders", 1)
        house.replicas.flushes.soon(replica, up_to=1)
        await asyncio.sleep(0)
        assert replica.flushing is not None
        for _ in range(2):
            house.append("orders", 1)
            house.replicas.flushes.when_durable(replica, replica.log.log_end_offset, told.append)
        await house.replicas.flushes.settle()
        assert told == [True, True]
        assert replica.log.recovery_point == 3

    tell(story)


def test_what_was_told_to_be_durable_survives_power_loss() -> None:
    async def story() -> None:
        house = Storehouse()
        await house.start()
        await house.topic("orders")
        house.append("orders", 5)
        await house.replicas.flushes.flush(house.replica("orders"))
        again = Storehouse(house.crash())
        await again.start(house.image)
        assert again.replica("orders").log.log_end_offset == 5

    virtual.run(story)


def test_a_failed_flush_tells_everybody_and_takes_the_directory_offline() -> None:
    async def story(house: Storehouse) -> None:
        house.replicas.on_directory_lost = lambda _log_dir, _none_left: None
        await house.topic("orders")
        replica = house.replica("orders")
        told: list[bool] = []
        house.append("orders", 1)
        house.replicas.flushes.when_durable(replica, 1, told.append)
        house.disk.faults.break_path("/a")
        await house.replicas.flushes.settle()
        assert told == [False]
        assert house.replicas.get("orders", 0) is None
        house.replicas.flushes.when_durable(replica, 1, told.append)
        assert told == [False, False]

    tell(story)


def test_a_flush_without_room_for_the_epochs_leaves_the_log_usable() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", leader_epoch=3)
        replica = house.replica("orders")
        house.append("orders", 1)
        house.disk.faults.capacity_bytes = house.disk.used_bytes
        await house.replicas.flushes.flush(replica)
        assert replica.log.failure is None
        assert replica.log.recovery_point == 0
        assert house.metrics.refused_for_lack_of_space == 1
        house.disk.faults.capacity_bytes = None
        await house.replicas.flushes.flush(replica)
        assert replica.log.recovery_point == 1

    tell(story)


def test_a_roll_flushes_what_was_sealed() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", segment_bytes="1048576")
        replica = house.replica("orders")
        for _ in range(3):
            house.append("orders", 1, value=b"x" * 500_000)
        assert len(replica.log.segments) == 2
        await house.replicas.flushes.settle()
        assert replica.log.recovery_point == 2

    tell(story)


def test_flushes_that_are_due_by_the_settings_are_begun() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", flush_messages="5")
        await house.topic("others")
        house.append("orders", 4)
        house.append("others", 40)
        assert house.replicas.flushes.due(house.replicas) == 0
        house.append("orders", 4)
        assert house.replicas.flushes.due(house.replicas) == 1
        await house.replicas.flushes.settle()
        assert house.replica("orders").log.recovery_point == 8

    tell(story)


def test_a_topic_is_deleted_only_after_its_flush_has_ended() -> None:
    async def story(house: Storehouse) -> None:
        from quire.protocol.messages.metadata_records import RemoveTopicRecord

        topic_id = await house.topic("orders")
        house.append("orders", 1)
        told: list[bool] = []
        house.replicas.flushes.when_durable(house.replica("orders"), 1, told.append)
        await asyncio.sleep(0)
        await house.learn(RemoveTopicRecord(topic_id=topic_id))
        await house.replicas.flushes.settle()
        assert told == [False]
        assert house.log_dirs.online

    tell(story)


def test_checkpoints_are_written_one_after_the_other() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 3)
        await asyncio.gather(
            *(house.replicas.flushes.checkpoint(HIGH_WATERMARKS) for _ in range(3))
        )
        offsets = read_offsets(house.disk, f"/a/{HIGH_WATERMARKS}")
        assert offsets == {TopicPartition("orders", 0): 3}

    tell(story)


def test_a_checkpoint_without_room_leaves_the_old_one_and_the_directory_online() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        await house.replicas.flushes.checkpoint(HIGH_WATERMARKS)
        house.append("orders", 3)
        house.disk.faults.capacity_bytes = house.disk.used_bytes
        await house.replicas.flushes.checkpoint(HIGH_WATERMARKS)
        assert read_offsets(house.disk, f"/a/{HIGH_WATERMARKS}") == {TopicPartition("orders", 0): 0}
        assert house.log_dirs.online

    tell(story)
