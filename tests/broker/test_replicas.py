from __future__ import annotations

import pytest
from tests.broker.storehouse import NODE, Storehouse, tell

from quire.errors import ErrorCode, StorageError
from quire.metadata.delta import Touched
from quire.metadata.image import Image
from quire.protocol.messages import metadata_records as records
from quire.records.compression import Compression
from quire.sim import loop as virtual
from quire.storage.lookup import ReadResult
from quire.storage.partition_metadata import read_topic_id


def test_a_topic_of_the_metadata_becomes_partitions_that_can_be_written_and_read() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", partitions=3)
        assert sorted(str(each.topic_partition) for each in house.replicas) == [
            "orders-0", "orders-1", "orders-2",
        ]  # fmt: skip
        replica = house.replica("orders", 1)
        assert house.replicas.by_id(topic_id, 1) is replica
        assert replica.leader is not None
        house.append("orders", 3, partition=1)
        assert replica.log.high_watermark == replica.log.log_end_offset == 3
        found = replica.log.read(0, max_bytes=1000, upper_bound_offset=3)
        assert isinstance(found, ReadResult)
        assert found.records.size > 0
        assert read_topic_id(house.disk, "/a/orders-1") == topic_id

    tell(story)


def test_new_partitions_survive_a_crash_with_their_topic_id() -> None:
    async def story() -> None:
        house = Storehouse()
        await house.start()
        topic_id = await house.topic("orders", partitions=40)
        again = Storehouse(house.crash())
        await again.start(house.image)
        assert len(again.replicas) == 40
        assert all(each.topic_id == topic_id for each in again.replicas)
        assert again.log_dirs.others == []

    virtual.run(story)


def test_many_new_partitions_cost_two_flushes_each_and_one_together() -> None:
    async def story(house: Storehouse) -> None:
        before = len(house.disk.trace.lines)
        await house.topic("orders", partitions=100)
        flushes = [line for line in house.disk.trace.lines[before:] if "flush" in line]
        assert len(flushes) == 2 * 100 + 1

    tell(story)


def test_a_deleted_topic_is_gone_at_once_and_its_files_later() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", partitions=2, file_delete_delay_ms="60000")
        await house.learn(records.RemoveTopicRecord(topic_id=topic_id))
        assert list(house.replicas) == []
        assert house.replicas.why_not("orders", 0) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        aside = [name for name in house.disk.list("/a") if name.endswith("-delete")]
        assert len(aside) == 2
        assert house.log_dirs.deletions_due(house.clock.wall_ms()) == []
        due = house.log_dirs.deletions_due(house.clock.wall_ms() + 60_000)
        assert due == [f"/a/{name}" for name in aside]

    tell(story)


def test_a_topic_made_again_in_the_same_change_begins_empty_under_its_new_id() -> None:
    async def story(house: Storehouse) -> None:
        old = await house.topic("orders")
        house.append("orders", 5)
        new = b"another topic id"
        await house.learn(
            records.RemoveTopicRecord(topic_id=old),
            records.TopicRecord(name="orders", topic_id=new),
            records.PartitionRecord(
                partition_id=0, topic_id=new, replicas=[NODE], isr=[NODE], removing_replicas=[],
                adding_replicas=[], leader=NODE, leader_epoch=0, partition_epoch=0,
            ),
        )  # fmt: skip
        assert house.replica("orders").topic_id == new
        assert house.replica("orders").log.log_end_offset == 0
        assert house.replicas.by_id(old, 0) is None

    tell(story)


def test_a_role_follows_the_metadata_and_a_follower_has_no_leader() -> None:
    async def story(house: Storehouse) -> None:
        topic_id = await house.topic("orders", replicas=(NODE, 2))
        replica = house.replica("orders")
        assert replica.leader is not None
        await house.learn(
            records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=2)
        )
        assert replica.leader is None
        assert (replica.leader_id, replica.leader_epoch) == (2, 1)
        assert replica.check_leader(-1) is ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert replica.check_leader(0) is ErrorCode.FENCED_LEADER_EPOCH
        assert replica.check_leader(2) is ErrorCode.UNKNOWN_LEADER_EPOCH
        assert replica.check_replica(1) is ErrorCode.NONE
        await house.learn(
            records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=NODE)
        )
        assert replica.leader is not None
        assert replica.log.leader_epochs.latest_epoch == 2

    tell(story)


def test_the_high_watermark_of_two_replicas_waits_for_the_follower() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", replicas=(NODE, 2))
        house.append("orders", 4)
        replica = house.replica("orders")
        assert replica.log.high_watermark == 0
        assert replica.leader is not None
        replica.leader.on_follower_fetch(
            2, fetch_offset=4, log_start_offset=0, broker_epoch=9, now_ms=house.clock.monotonic_ms()
        )
        house.replicas.advance(replica, replica.leader.high_watermark)
        assert replica.log.high_watermark == 4

    tell(story)


def test_settings_of_a_topic_take_effect_while_it_is_open() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        replica = house.replica("orders")
        assert replica.rules.get("max_bytes") == 1_048_588
        assert replica.compression is None

        def set_to(name: str, value: str | None) -> records.ConfigRecord:
            return records.ConfigRecord(
                resource_type=2, resource_name="orders", name=name, value=value
            )

        await house.learn(
            set_to("max.message.bytes", "100"), set_to("compression.type", "zstd"),
            set_to("cleanup.policy", "compact"), set_to("segment.bytes", "2000000"),
        )  # fmt: skip
        assert replica.rules.get("max_bytes") == 100
        assert replica.rules.get("compacted") is True
        assert (replica.compression, replica.compression_level) == (Compression.ZSTD, 3)
        assert replica.log.settings.segment_bytes == 2_000_000
        await house.learn(set_to("max.message.bytes", None))
        assert replica.rules.get("max_bytes") == 1_048_588

    tell(story)


def test_a_dynamic_default_of_the_broker_reaches_topics_that_say_nothing() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        await house.topic("own", max_message_bytes="77")
        await house.learn(
            records.ConfigRecord(
                resource_type=4, resource_name="", name="message.max.bytes", value="5000"
            )
        )
        assert house.replica("orders").rules.get("max_bytes") == 5000
        assert house.replica("own").rules.get("max_bytes") == 77

    tell(story)


def test_what_the_metadata_does_not_know_is_set_aside_at_start_and_kept() -> None:
    async def story() -> None:
        house = Storehouse()
        await house.start()
        await house.topic("orders")
        house.append("orders")
        await house.stop()
        again = Storehouse(house.disk)
        await again.start()
        assert list(again.replicas) == []
        assert [path.endswith("-stray") for path in again.log_dirs.others] == [True]

    virtual.run(story)


def test_a_clean_stop_and_start_keeps_records_and_the_high_watermark() -> None:
    async def story() -> None:
        house = Storehouse()
        await house.start()
        await house.topic("orders", replicas=(NODE, 2))
        house.append("orders", 6)
        replica = house.replica("orders")
        house.replicas.advance(replica, 4)
        await house.stop()
        again = Storehouse(house.disk)
        await again.start(house.image)
        assert again.replica("orders").log.log_end_offset == 6
        assert again.replica("orders").log.high_watermark == 4

    virtual.run(story)


def test_a_full_disk_refuses_the_write_and_takes_writes_again_when_there_is_room() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        house.append("orders", 2)
        house.disk.faults.capacity_bytes = house.disk.used_bytes
        with pytest.raises(StorageError):
            house.append("orders", 2, value=b"x" * 10_000)
        replica = house.replica("orders")
        assert replica.log.log_end_offset == 2
        found = replica.log.read(0, max_bytes=1000, upper_bound_offset=2)
        assert isinstance(found, ReadResult)
        assert found.records.size > 0
        assert house.metrics.refused_for_lack_of_space == 1
        house.disk.faults.capacity_bytes = None
        house.append("orders", 2, value=b"x" * 10_000)
        assert replica.log.log_end_offset == 4

    tell(story)


def test_partitions_that_do_not_fit_are_made_when_there_is_room() -> None:
    async def story(house: Storehouse) -> None:
        house.disk.faults.capacity_bytes = house.disk.used_bytes
        await house.topic("orders", partitions=2)
        assert list(house.replicas) == []
        assert house.replicas.why_not("orders", 0) is ErrorCode.NOT_LEADER_OR_FOLLOWER
        house.disk.faults.capacity_bytes = None
        await virtual.asyncio.sleep(6)
        await house.replicas.flushes.settle()
        assert len(house.replicas) == 2
        house.append("orders")

    tell(story)


def test_a_broken_disk_takes_its_directory_offline_alone() -> None:
    async def story(house: Storehouse) -> None:
        told: list[str] = []
        house.replicas.on_directory_lost = lambda log_dir, none_left: told.append(
            f"{log_dir.path} {none_left}"
        )
        await house.topic("orders", partitions=4)
        homes = {each.topic_partition: each.hosted.log_dir.path for each in house.replicas}
        assert sorted(homes.values()) == ["/a", "/a", "/b", "/b"]
        house.disk.faults.break_path("/a")
        for key, home in homes.items():
            if home == "/b":
                house.append("orders", partition=key.partition)
            elif house.replicas.get(*key) is not None:
                with pytest.raises(StorageError):
                    house.append("orders", partition=key.partition)
        assert {each.hosted.log_dir.path for each in house.replicas} == {"/b"}
        for key, home in homes.items():
            if home == "/a":
                assert house.replicas.why_not(*key) is ErrorCode.KAFKA_STORAGE_ERROR
        assert told == ["/a None"]

    tell(story, "/a", "/b", log_dirs="/a,/b")


def test_the_last_directory_that_fails_is_told_as_such() -> None:
    async def story(house: Storehouse) -> None:
        told: list[StorageError | None] = []
        house.replicas.on_directory_lost = lambda _log_dir, none_left: told.append(none_left)
        await house.topic("orders")
        house.disk.faults.break_path("/a")
        with pytest.raises(StorageError):
            house.append("orders")
        assert isinstance(told[0], StorageError)

    tell(story)


def test_a_replica_in_another_directory_than_the_metadata_says_is_reported() -> None:
    async def story(house: Storehouse) -> None:
        unassigned = bytes(15) + b"\x01"
        topic_id = await house.topic("orders", directory=unassigned)
        meta = house.replica("orders").hosted.log_dir.meta
        assert meta is not None
        assert house.replicas.unreported == {(topic_id, 0): meta.directory_id}
        assert meta.directory_id is not None
        await house.learn(
            records.PartitionChangeRecord(
                partition_id=0, topic_id=topic_id, directories=[meta.directory_id]
            )
        )
        assert house.replicas.unreported == {}

    tell(story)


def test_a_partition_is_made_in_the_directory_that_the_metadata_names() -> None:
    async def story(house: Storehouse) -> None:
        meta = house.log_dirs.log_dirs[1].meta
        assert meta is not None
        await house.topic("orders", partitions=3, directory=meta.directory_id)
        assert {each.hosted.log_dir.path for each in house.replicas} == {"/b"}

    tell(story, "/a", "/b", log_dirs="/a,/b")


def test_an_image_without_news_changes_nothing() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        replica = house.replica("orders")
        operations = house.disk.operations
        image: Image = house.image
        await house.replicas.apply(image, Touched(), house.broker.layers, 7)
        assert house.replica("orders") is replica
        assert house.disk.operations == operations

    tell(story)
