"""Snapshots of the metadata in a whole node: when they are made, what they let go, and what a start finds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tests.node.scene import SETTINGS, delete_topic, format_machine, make_topic, on_machine

from quire.metadata.records import decode_value
from quire.metadata.snapshot import image_of
from quire.node.boot import Node, start
from quire.node.snapshots import Snapshots
from quire.protocol.messages.metadata_records import TopicRecord
from quire.raft.snapshots import BOOTSTRAP, SnapshotId, snapshot_id
from quire.sim.machine import Machine

PLACE = "/logs/a/__cluster_metadata-0"


def with_node(main: Callable[[Machine, Node], Awaitable[None]], **settings: str) -> None:
    texts = {**SETTINGS, **{name.replace("_", "."): text for name, text in settings.items()}}

    async def begin(machine: Machine) -> None:
        format_machine(machine, texts)
        node = await start(machine.boot(), texts)
        await main(machine, node)
        node.check()
        await node.stop()
        before = node.feed.image
        again = await start(machine.boot(), texts)
        assert sorted(again.broker.image.topics) == sorted(before.topics)
        assert again.broker.image.config(4, "") == before.config(4, "")
        await again.stop()

    on_machine(begin)


def on_disk(machine: Machine) -> list[SnapshotId]:
    found = filter(None, map(snapshot_id, machine.disk.list(PLACE)))
    return sorted(one for one in found if one != BOOTSTRAP)


def the(node: Node) -> Snapshots:
    assert node._housekeeping is not None
    return node._housekeeping._snapshots


async def make_topics(node: Node, prefix: str, count: int) -> None:
    for number in range(count):
        await make_topic(node, f"{prefix}-{number}")


def test_a_snapshot_holds_what_was_committed_when_it_was_made() -> None:
    async def main(machine: Machine, node: Node) -> None:
        await make_topics(node, "t", 3)
        await delete_topic(node, "t-1")
        image = node.feed.image
        await the(node).make()
        (which,) = on_disk(machine)
        assert which == (image.offset + 1, image.quorum_epoch)
        snapshot = node._metadata_log.snapshots.read(which)
        messages = [decode_value(value).message for value in snapshot.values]
        assert [one.name for one in messages if isinstance(one, TopicRecord)] == ["t-0", "t-2"]
        assert snapshot.controls == node._quorum.controls
        assert snapshot.last_contained_log_timestamp == node.feed.last_timestamp
        again = image_of(messages, offset=image.offset, quorum_epoch=image.quorum_epoch)
        assert again.topics == image.topics
        assert again.configs == image.configs

    with_node(main)


def test_nothing_new_makes_no_second_snapshot() -> None:
    async def main(machine: Machine, node: Node) -> None:
        await make_topics(node, "t", 1)
        await the(node).make()
        operations = machine.disk.operations
        await the(node).make()
        assert machine.disk.operations == operations
        assert len(on_disk(machine)) == 1

    with_node(main, metadata_max_idle_interval_ms="0")


def test_one_is_due_when_the_log_has_grown_by_so_many_bytes() -> None:
    async def main(machine: Machine, node: Node) -> None:
        await asyncio.sleep(20)
        assert on_disk(machine) == []
        await make_topics(node, "t", 30)
        await asyncio.sleep(10)
        (first,) = on_disk(machine)
        await asyncio.sleep(30)
        assert on_disk(machine) == [first], "it begins to count anew"

    with_node(
        main,
        metadata_log_max_record_bytes_between_snapshots="3000",
        metadata_max_idle_interval_ms="0",
    )


def test_one_is_due_when_so_much_time_has_gone_by_and_something_has_happened() -> None:
    async def main(machine: Machine, node: Node) -> None:
        await asyncio.sleep(70)
        assert len(on_disk(machine)) == 1
        await asyncio.sleep(300)
        assert len(on_disk(machine)) == 1, "nothing has happened since"
        await make_topics(node, "t", 1)
        await asyncio.sleep(10)
        assert len(on_disk(machine)) == 2

    with_node(
        main, metadata_log_max_snapshot_interval_ms="60000", metadata_max_idle_interval_ms="0"
    )


def test_old_snapshots_and_the_segments_under_them_go_when_there_is_too_much() -> None:
    async def main(machine: Machine, node: Node) -> None:
        for number in range(6):
            await make_topics(node, f"t-{number}", 10)
            await the(node).make()
            await the(node).clean()
        left = on_disk(machine)
        assert 1 <= len(left) < 6
        assert left[-1].end_offset == node._metadata_log.latest_snapshot.end_offset  # type: ignore[union-attr]
        log = node._metadata_log.log
        assert 0 < log.log_start_offset <= left[0].end_offset
        await asyncio.sleep(70)
        segments = [name for name in machine.disk.list(PLACE) if name.endswith(".log")]
        assert min(segments) > f"{0:020d}.log"

    with_node(main, metadata_max_retention_bytes="20000")


def test_old_snapshots_go_by_age_and_the_newest_stays_however_old_it_is() -> None:
    async def main(machine: Machine, node: Node) -> None:
        for number in range(3):
            await make_topics(node, f"t-{number}", 1)
            await the(node).make()
        assert len(on_disk(machine)) == 3
        await asyncio.sleep(120)
        left = on_disk(machine)
        assert len(left) == 1
        assert left[0] == node._metadata_log.latest_snapshot

    with_node(main, metadata_max_retention_ms="60000", metadata_max_idle_interval_ms="0")


def test_a_loss_of_power_after_a_snapshot_loses_nothing() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        node = await start(machine.boot(), SETTINGS)
        await make_topics(node, "before", 5)
        await the(node).make()
        await make_topics(node, "after", 5)
        node.crash()
        machine.lose_power()
        again = await start(machine.boot(), SETTINGS)
        assert len(again.broker.image.topics) == 10
        assert len(on_disk(machine)) == 1
        await again.stop()

    for seed in range(4):
        on_machine(main, seed=seed)


def test_a_loss_of_power_while_one_is_written_leaves_none_or_a_whole_one() -> None:
    async def main(machine: Machine) -> None:
        format_machine(machine)
        node = await start(machine.boot(), SETTINGS)
        await make_topics(node, "t", 5)
        making = asyncio.ensure_future(the(node).make())
        await asyncio.sleep(0.004)
        making.cancel()
        node.crash()
        machine.lose_power()
        again = await start(machine.boot(), SETTINGS)
        assert len(again.broker.image.topics) == 5
        for which in on_disk(machine):
            assert again._metadata_log.snapshots.read(which).values
        await again.stop()

    for seed in range(8):
        on_machine(main, seed=seed)
