from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from tests.storage.cleaner.cleaning import LOG_DIR, STOCK, Cleaning, Writer, batches, open_log

from quire.sim.cleanings import CleaningEvent, SimCleanings
from quire.sim.disk import SimDisk, SimulatedCrash
from quire.sim.entropy import SeededEntropy
from quire.sim.loop import run
from quire.storage.cleaner.job import CleanedGroup, CleaningDone, CleaningFailed
from quire.storage.cleaner.schedule import Assignment, CompactedLog
from quire.storage.log import Log


def due(disk: SimDisk) -> tuple[Log, Assignment]:
    """A log with something to clean, and the job."""
    log = open_log(disk)
    writer = Writer(log)
    for n in range(100):
        writer.put((f"k{n % 3}", f"{n}"))
    log.roll(now_ms=500)
    log.flush(now_ms=500)
    schedule = Cleaning(disk).schedule
    assignment = schedule.next_assignment([CompactedLog(STOCK, LOG_DIR, log)], now_ms=500)
    assert assignment is not None
    return log, assignment


def play(
    disk: SimDisk,
    assignment: Assignment,
    on_event: Callable[[Any, CleaningEvent], None],
    crashes: list[SimulatedCrash],
) -> None:
    async def scene() -> None:
        cleanings = SimCleanings(disk, SeededEntropy(1), crashes.append)
        box: list[Any] = []

        def told(event: CleaningEvent) -> None:
            on_event(box[0], event)

        box.append(cleanings.start(assignment.job, bytes_per_second=1e9, on_event=told))
        await asyncio.sleep(5)
        cleanings.stop()

    run(scene)


def test_a_cleaning_comes_to_its_end_group_by_group() -> None:
    disk = SimDisk(1)
    log, assignment = due(disk)
    events: list[CleaningEvent] = []

    def take(cleaning: Any, event: CleaningEvent) -> None:
        events.append(event)
        if isinstance(event, CleanedGroup):
            assert log.replace_segments(event.base_offsets, now_ms=600)
            cleaning.go_on()

    play(disk, assignment, take, [])
    assert isinstance(events[-1], CleaningDone)
    assert len(events) > 1
    assert [record.value for _, found in batches(log) for record in found] == [b"97", b"98", b"99"]


def test_a_cleaning_waits_until_its_group_is_committed() -> None:
    disk = SimDisk(1)
    _, assignment = due(disk)
    events: list[CleaningEvent] = []
    play(disk, assignment, lambda _cleaning, event: events.append(event), [])
    assert [type(event) for event in events] == [CleanedGroup]


def test_a_disk_that_fails_ends_the_cleaning_with_a_reason() -> None:
    disk = SimDisk(1)
    _, assignment = due(disk)
    disk.faults.break_path(LOG_DIR)
    events: list[CleaningEvent] = []
    play(disk, assignment, lambda _cleaning, event: events.append(event), [])
    assert [type(event) for event in events] == [CleaningFailed]


def test_a_strike_ends_the_process_without_a_last_word() -> None:
    disk = SimDisk(1)
    _, assignment = due(disk)
    disk.faults.fail_after(operations=3)
    events: list[CleaningEvent] = []
    crashes: list[SimulatedCrash] = []
    play(disk, assignment, lambda _cleaning, event: events.append(event), crashes)
    assert len(crashes) == 1
    assert events == []
