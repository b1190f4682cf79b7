"""What a node does by the clock, seen on its disk and in its logs while virtual time goes by."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tests.broker.storehouse import batch_of
from tests.node.scene import SETTINGS, delete_topic, format_machine, make_topic, on_machine

from quire.broker.replica import Replica
from quire.node.boot import Node, start
from quire.sim.machine import Machine
from quire.storage.checkpoints import (
    HIGH_WATERMARKS,
    LOG_START_OFFSETS,
    RECOVERY_POINTS,
    read_offsets,
)
from quire.types import TopicPartition

ORDERS = TopicPartition("orders", 0)


def with_node(main: Callable[[Machine, Node], Awaitable[None]], **settings: str) -> None:
    """A node with these settings for a while."""
    texts = {**SETTINGS, **{name.replace("_", "."): text for name, text in settings.items()}}

    async def begin(machine: Machine) -> None:
        format_machine(machine, texts)
        node = await start(machine.boot(), texts)
        await main(machine, node)
        node.check()
        await node.stop()

    on_machine(begin)


def the(node: Node, topic: str = "orders") -> Replica:
    replica = node.broker.replicas.get(topic, 0)
    assert replica is not None
    return replica


def append(machine: Machine, node: Node, count: int = 1, **fields: Any) -> None:
    now_ms = machine.clock.wall_ms()
    node.broker.replicas.append(
        the(node), batch_of(count, timestamp=now_ms, **fields), now_ms=now_ms,
        monotonic_ms=machine.clock.monotonic_ms(),
    )  # fmt: skip


def offsets(machine: Machine, name: str) -> dict[TopicPartition, int]:
    return read_offsets(machine.disk, f"/logs/a/{name}")


def test_records_that_are_too_old_go_and_their_files_a_little_later() -> None:
    async def main(machine: Machine, node: Node) -> None:
        await make_topic(node, "orders", retention_ms="60000", file_delete_delay_ms="10000")
        append(machine, node, 3)
        first = "00000000000000000000.log"
        await asyncio.sleep(50)
        assert the(node).log.log_start_offset == 0
        await asyncio.sleep(20)
        assert the(node).log.log_start_offset == 3
        names = machine.disk.list("/logs/a/orders-0")
        assert first not in names
        assert f"{first}.deleted" in names
        await asyncio.sleep(15)
        assert f"{first}.deleted" not in machine.disk.list("/logs/a/orders-0")

    with_node(main, log_retention_check_interval_ms="5000", log_initial_task_delay_ms="1000")


def test_the_first_look_for_what_is_too_old_comes_after_its_own_delay() -> None:
    async def main(machine: Machine, node: Node) -> None:
        await make_topic(node, "orders", retention_ms="1")
        append(machine, node)
        await asyncio.sleep(8)
        assert the(node).log.log_start_offset == 0
        await asyncio.sleep(4)
        assert the(node).log.log_start_offset == 1

    with_node(main, log_retention_check_interval_ms="600000", log_initial_task_delay_ms="10000")


def test_checkpoints_say_what_is_flushed_safe_and_still_there() -> None:
    async def main(machine: Machine, node: Node) -> None:
        await make_topic(node, "orders", flush_messages="2")
        append(machine, node, 2)
        append(machine, node, 1)
        the(node).log.advance_log_start_offset(1, now_ms=machine.clock.wall_ms())
        assert offsets(machine, HIGH_WATERMARKS).get(ORDERS, 0) == 0
        await asyncio.sleep(12)
        assert offsets(machine, HIGH_WATERMARKS)[ORDERS] == 3
        assert offsets(machine, RECOVERY_POINTS)[ORDERS] in (2, 3)
        assert offsets(machine, LOG_START_OFFSETS)[ORDERS] == 1

    with_node(
        main,
        replica_high_watermark_checkpoint_interval_ms="3000",
        log_flush_offset_checkpoint_interval_ms="3000",
        log_flush_start_offset_checkpoint_interval_ms="3000",
        log_flush_scheduler_interval_ms="500",
    )


def test_what_is_due_to_be_flushed_by_time_is_flushed() -> None:
    async def main(machine: Machine, node: Node) -> None:
        await make_topic(node, "orders", flush_ms="4000")
        append(machine, node, 3)
        await asyncio.sleep(2)
        assert the(node).log.recovery_point == 0
        await asyncio.sleep(4)
        assert the(node).log.recovery_point == 3

    with_node(main, log_flush_scheduler_interval_ms="500")


def test_producers_that_are_silent_for_long_are_forgotten() -> None:
    async def main(machine: Machine, node: Node) -> None:
        await make_topic(node, "orders")
        append(machine, node, 1, producer_id=5, producer_epoch=0, base_sequence=0)
        await asyncio.sleep(5)
        assert len(the(node).log.producers) == 1
        await asyncio.sleep(10)
        assert len(the(node).log.producers) == 0

    with_node(
        main, producer_id_expiration_ms="8000", producer_id_expiration_check_interval_ms="1000"
    )


def test_the_directory_of_a_deleted_topic_goes_when_its_time_is_over() -> None:
    async def main(machine: Machine, node: Node) -> None:
        await make_topic(node, "orders")
        await delete_topic(node, "orders")
        left = [name for name in machine.disk.list("/logs/a") if name.startswith("orders-0")]
        assert [name.endswith("-delete") for name in left] == [True]
        await asyncio.sleep(12)
        assert not any(name.startswith("orders") for name in machine.disk.list("/logs/a"))

    with_node(main, log_segment_delete_delay_ms="10000")


def test_a_disk_that_fails_under_retention_takes_its_directory_and_not_the_node() -> None:
    async def main(machine: Machine, node: Node) -> None:
        await make_topic(node, "orders", retention_ms="1000")
        await make_topic(node, "others", partitions=4)
        assert the(node).hosted.log_dir.path == "/logs/b", "not where the metadata is"
        append(machine, node, 1)
        machine.disk.faults.break_path("/logs/b")
        await asyncio.sleep(10)
        assert node.broker.replicas.get("orders", 0) is None
        left = {one.hosted.log_dir.path for one in node.broker.replicas}
        assert left == {"/logs/a"}

    with_node(
        main,
        log_dirs="/logs/b,/logs/a",
        metadata_log_dir="/logs/a",
        log_retention_check_interval_ms="1000",
        log_initial_task_delay_ms="100",
    )


def test_after_a_stop_nothing_comes_round_any_more() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        node = await start(machine.boot(), SETTINGS)
        await make_topic(node, "orders")
        append(machine, node, 5)
        await node.stop()
        operations = machine.disk.operations
        await asyncio.sleep(3600)
        assert machine.disk.operations == operations

    on_machine(main)
