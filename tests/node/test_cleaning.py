"""Compaction in a whole node: which records stay, how many cleanings run, and what ends one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from tests.node.scene import SETTINGS, delete_topic, format_machine, make_topic, on_machine

from quire.broker.replica import Replica
from quire.node.boot import Node, start
from quire.node.cleaning import Cleaner, cleaner_settings
from quire.records.batch import Record, decode_records, encode_batch, iterate_headers
from quire.sim.machine import Machine
from quire.storage.checkpoints import CLEANER_OFFSETS, read_offsets
from quire.storage.cleaner.job import CleanedGroup, CleaningFailed, CleaningJob
from quire.storage.lookup import ReadResult

COMPACT = {
    "cleanup_policy": "compact",
    "min_cleanable_dirty_ratio": "0.01",
    "internal_segment_bytes": "400",
}
QUICK = {**SETTINGS, "log.cleaner.backoff.ms": "1000"}


def the(node: Node, topic: str = "table") -> Replica:
    replica = node.broker.replicas.get(topic, 0)
    assert replica is not None
    return replica


def append(machine: Machine, node: Node, key: str, value: str, topic: str = "table") -> None:
    now_ms = machine.clock.wall_ms()
    record = Record(0, now_ms, key.encode(), value.encode())
    node.broker.replicas.append(
        the(node, topic), encode_batch([record]), now_ms=now_ms,
        monotonic_ms=machine.clock.monotonic_ms(),
    )  # fmt: skip


def content(replica: Replica) -> list[tuple[int, str, str]]:
    """(offset, key, value) of every record."""
    found: list[tuple[int, str, str]] = []
    log = replica.log
    position = log.log_start_offset
    while position < log.log_end_offset:
        read = log.read(position, max_bytes=1 << 20, upper_bound_offset=log.log_end_offset)
        assert isinstance(read, ReadResult)
        records = read.records.read()
        for at, header in iterate_headers(records):
            found += [
                (one.offset, (one.key or b"").decode(), (one.value or b"").decode())
                for one in decode_records(records, at, header)
            ]
            position = header.next_offset
    return found


async def begun(machine: Machine, settings: dict[str, str] = QUICK) -> Node:
    format_machine(machine)
    return await start(machine.boot(), settings)


class Held:
    """Cleanings that do what the test says; see node.world."""

    def __init__(self) -> None:
        self.jobs: list[CleaningJob] = []
        self.events: list[Callable[[Any], None]] = []
        self.stopped: list[int] = []
        self.gone_on: list[int] = []

    def start(
        self, job: CleaningJob, *, bytes_per_second: float, on_event: Callable[[Any], None]
    ) -> Any:
        assert bytes_per_second > 0
        number = len(self.jobs)
        self.jobs.append(job)
        self.events.append(on_event)
        held = self

        class One:
            def go_on(self) -> None:
                held.gone_on.append(number)

            def stop(self) -> None:
                held.stopped.append(number)

        return One()


def held_in(node: Node) -> tuple[Held, Cleaner]:
    """The node's cleaner, with cleanings that wait for the test."""
    assert node._housekeeping is not None
    cleaner, held = node._housekeeping.cleaner, Held()
    cleaner._world = type(cleaner._world)(
        **{
            name: getattr(cleaner._world, name)
            for name in cleaner._world.__dataclass_fields__
            if name != "cleanings"
        },
        cleanings=held,
    )
    return held, cleaner


async def dirty(machine: Machine, node: Node, *topics: str) -> None:
    for topic in topics:
        await make_topic(node, topic, **COMPACT)
        for number in range(30):
            append(machine, node, f"k{number % 3}", f"v{number}", topic)


def test_of_each_key_the_last_value_stays_at_its_offset() -> None:
    async def main(machine: Machine) -> None:
        node = await begun(machine)
        await make_topic(node, "table", **COMPACT)
        last: dict[str, tuple[int, str]] = {}
        for number in range(60):
            key, value = f"k{number % 4}", f"v{number}"
            append(machine, node, key, value)
            last[key] = (number, value)
        before = content(the(node))
        await asyncio.sleep(30)
        after = content(the(node))
        assert len(after) < len(before) // 2
        assert set(after) <= set(before)
        for key, (offset, value) in last.items():
            assert (offset, key, value) in after
        assert the(node).log.log_end_offset == 60
        lines = read_offsets(machine.disk, "/logs/a/" + CLEANER_OFFSETS)
        assert lines[the(node).topic_partition] > 0
        node.check()
        await node.stop()
        machine.lose_power()
        again = await start(machine.boot(), QUICK)
        assert content(the(again)) == after
        await again.stop()

    on_machine(main)


def test_a_topic_that_is_not_compacted_is_left_alone() -> None:
    async def main(machine: Machine) -> None:
        node = await begun(machine)
        await make_topic(node, "table", internal_segment_bytes="400")
        for number in range(30):
            append(machine, node, "k", f"v{number}")
        await asyncio.sleep(30)
        assert len(content(the(node))) == 30
        await node.stop()

    on_machine(main)


def test_without_the_cleaner_nothing_is_cleaned() -> None:
    async def main(machine: Machine) -> None:
        node = await begun(machine, {**QUICK, "log.cleaner.enable": "false"})
        await dirty(machine, node, "table")
        await asyncio.sleep(30)
        assert len(content(the(node))) == 30
        await node.stop()

    on_machine(main)


def test_at_most_as_many_cleanings_run_as_there_are_threads_and_one_of_a_log() -> None:
    async def main(machine: Machine) -> None:
        node = await begun(machine, {**QUICK, "log.cleaner.threads": "2"})
        held, _ = held_in(node)
        await dirty(machine, node, "a", "b", "c")
        await asyncio.sleep(10)
        assert len(held.jobs) == 2
        assert len({job.directory for job in held.jobs}) == 2
        held.events[0](CleaningFailed("a broken batch"))
        await asyncio.sleep(10)
        assert len({job.directory for job in held.jobs}) == len(held.jobs) == 3
        await node.stop()

    on_machine(main)


def test_what_cannot_be_cleaned_is_left_alone_from_then_on_and_said() -> None:
    async def main(machine: Machine) -> None:
        node = await begun(machine)
        held, cleaner = held_in(node)
        await dirty(machine, node, "table")
        await asyncio.sleep(5)
        held.events[0](CleaningFailed("a broken batch"))
        await asyncio.sleep(60)
        assert len(held.jobs) == 1
        assert list(cleaner.schedule.uncleanable) == [the(node).topic_partition]
        await node.stop()

    on_machine(main)


def test_a_cleaning_is_given_up_when_its_topic_is_deleted() -> None:
    async def main(machine: Machine) -> None:
        node = await begun(machine)
        held, _ = held_in(node)
        await dirty(machine, node, "table")
        await asyncio.sleep(5)
        await delete_topic(node, "table")
        await asyncio.sleep(5)
        assert held.stopped == [0]
        held.events[0](CleaningFailed("too late"))
        await asyncio.sleep(5)
        assert node._tasks.failure is None
        await node.stop()

    on_machine(main)


def test_a_group_of_a_log_that_went_meanwhile_is_not_taken() -> None:
    async def main(machine: Machine) -> None:
        node = await begun(machine)
        held, _ = held_in(node)
        await dirty(machine, node, "table")
        await asyncio.sleep(5)
        gone = the(node)
        await delete_topic(node, "table")
        assert gone.gone is not None
        held.events[0](CleanedGroup((0,), 10, 5))
        await asyncio.sleep(0.5)
        assert (held.stopped, held.gone_on) == ([0], [])
        await node.stop()

    on_machine(main)


def test_a_stop_gives_up_what_is_being_cleaned() -> None:
    async def main(machine: Machine) -> None:
        node = await begun(machine)
        held, _ = held_in(node)
        await dirty(machine, node, "table")
        await asyncio.sleep(5)
        await node.stop()
        assert held.stopped == [0]

    on_machine(main)


def test_settings_of_cleaning_are_the_brokers() -> None:
    async def main(machine: Machine) -> None:
        texts = {
            **QUICK,
            "log.cleaner.threads": "3",
            "log.cleaner.dedupe.buffer.size": "4000000",
            "log.cleaner.io.max.bytes.per.second": "5000.0",
        }
        node = await begun(machine, texts)
        found = cleaner_settings(node.broker.layers.settings)
        assert (found.threads, found.dedupe_buffer_bytes) == (3, 4_000_000)
        assert (found.io_max_bytes_per_second, found.backoff_ms) == (5000.0, 1000)
        await node.stop()

    on_machine(main)
