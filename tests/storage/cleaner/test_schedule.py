from __future__ import annotations

from dataclasses import replace

import pytest
from tests.storage.cleaner.cleaning import LOG_DIR, SETTINGS, STOCK, Cleaning, Writer, open_log

from quire.ports.disk import Disk
from quire.sim.disk import SimDisk
from quire.sim.entropy import SeededEntropy
from quire.storage import checkpoints
from quire.storage.cleaner.job import CleaningDone
from quire.storage.cleaner.schedule import CleanerSchedule, CleanerSettings, CompactedLog
from quire.storage.loading import LastStop
from quire.storage.log import Log
from quire.storage.settings import LogSettings
from quire.storage.small_files import replace_file
from quire.types import TopicPartition


@pytest.fixture
def disk() -> SimDisk:
    return SimDisk(1)


def schedule_on(disk: Disk, **settings: int) -> CleanerSchedule:
    return CleanerSchedule(disk, CleanerSettings(**settings), SeededEntropy(1))


def dirty_log(
    disk: Disk, name: str, batches: int, settings: LogSettings = SETTINGS
) -> CompactedLog:
    directory = f"{LOG_DIR}/{name}-0"
    disk.make_directory(directory)
    log = Log.open(
        disk, directory, settings, now_ms=0, last_stop=LastStop(), draw_below=lambda _: 0
    )
    writer = Writer(log)
    for n in range(batches):
        writer.put((f"k{n % 5}", f"{n}"))
    log.roll(now_ms=100)
    log.flush(now_ms=100)
    return CompactedLog(TopicPartition(name, 0), LOG_DIR, log)


def done(clean_until: int) -> CleaningDone:
    return CleaningDone(clean_until, 1000, 1000, 250, 10, 2, 0, 0.5)


def test_the_dirtiest_log_comes_first(disk: SimDisk) -> None:
    half, whole = dirty_log(disk, "half", 30), dirty_log(disk, "whole", 10)
    checkpoints.write_offsets(
        disk, f"{LOG_DIR}/{checkpoints.CLEANER_OFFSETS}", {half.topic_partition: 15}
    )
    assignment = schedule_on(disk).next_assignment([half, whole], now_ms=100)
    assert assignment is not None
    assert assignment.topic_partition == whole.topic_partition


def test_an_overdue_log_comes_before_a_dirtier_one(disk: SimDisk) -> None:
    lagging = replace(SETTINGS, max_compaction_lag_ms=50, min_cleanable_dirty_ratio=1.0)
    overdue, dirty = dirty_log(disk, "overdue", 10, lagging), dirty_log(disk, "dirty", 10)
    assignment = schedule_on(disk).next_assignment([dirty, overdue], now_ms=100)
    assert assignment is not None
    assert assignment.topic_partition == overdue.topic_partition


def test_a_log_below_its_dirty_ratio_waits_and_its_dirt_is_shown(disk: SimDisk) -> None:
    patient = dirty_log(disk, "patient", 30, replace(SETTINGS, min_cleanable_dirty_ratio=0.9))
    checkpoints.write_offsets(
        disk, f"{LOG_DIR}/{checkpoints.CLEANER_OFFSETS}", {patient.topic_partition: 15}
    )
    schedule = schedule_on(disk)
    assert schedule.next_assignment([patient], now_ms=100) is None
    assert 50 <= schedule.figures.max_dirty_percent < 90


def test_a_log_that_is_not_compacted_is_left_alone(disk: SimDisk) -> None:
    plain = dirty_log(disk, "plain", 10, LogSettings(segment_bytes=600))
    assert schedule_on(disk).next_assignment([plain], now_ms=100) is None


def test_a_partition_is_cleaned_once_at_a_time(disk: SimDisk) -> None:
    log, schedule = dirty_log(disk, "log", 10), schedule_on(disk)
    first = schedule.next_assignment([log], now_ms=100)
    assert first is not None
    assert schedule.next_assignment([log], now_ms=100) is None
    schedule.abandon(first)
    assert schedule.next_assignment([log], now_ms=100) is not None


def test_the_dedupe_buffer_is_shared_by_the_threads(disk: SimDisk) -> None:
    schedule = schedule_on(disk, threads=4, dedupe_buffer_bytes=4000)
    assignment = schedule.next_assignment([dirty_log(disk, "log", 10)], now_ms=100)
    assert assignment is not None
    assert assignment.job.map_bytes == 1000


def test_finishing_moves_the_checkpoint_and_the_figures(disk: SimDisk) -> None:
    log, schedule = dirty_log(disk, "log", 10), schedule_on(disk)
    assignment = schedule.next_assignment([log], now_ms=1000)
    assert assignment is not None
    schedule.finish(assignment, done(10), now_ms=4500)
    path = f"{LOG_DIR}/{checkpoints.CLEANER_OFFSETS}"
    assert checkpoints.read_offsets(disk, path) == {log.topic_partition: 10}
    figures = schedule.figures
    assert (figures.cleanings, figures.max_clean_time_secs, figures.cleaner_recopy_percent) == (
        1,
        3,
        25,
    )
    assert figures.max_buffer_utilization_percent == 50
    assert schedule.next_assignment([log], now_ms=5000) is None, "nothing is dirty any more"


def test_an_uncleanable_partition_is_counted_and_left_alone_until_it_is_forgiven(
    disk: SimDisk,
) -> None:
    log, schedule = dirty_log(disk, "log", 10), schedule_on(disk)
    assignment = schedule.next_assignment([log], now_ms=100)
    assert assignment is not None
    schedule.fail(assignment, "a batch is corrupt")
    assert schedule.next_assignment([log], now_ms=100) is None
    assert schedule.figures.uncleanable_partitions_count == 1
    assert schedule.figures.uncleanable_bytes == sum(s.size for s in log.log.segments[:-1])
    assert schedule.uncleanable[log.topic_partition].reason == "a batch is corrupt"
    schedule.forgive(log.topic_partition)
    assert schedule.figures.uncleanable_partitions_count == 0
    assert schedule.next_assignment([log], now_ms=100) is not None


def test_a_truncation_makes_what_lies_above_it_dirty(disk: SimDisk) -> None:
    log, schedule = dirty_log(disk, "log", 10), schedule_on(disk)
    assignment = schedule.next_assignment([log], now_ms=100)
    assert assignment is not None
    schedule.finish(assignment, done(10), now_ms=100)
    schedule.truncated(log.topic_partition, LOG_DIR, 4)
    assert schedule.clean_until(log) == 4
    schedule.truncated(log.topic_partition, LOG_DIR, 7)
    assert schedule.clean_until(log) == 4


def test_a_partition_that_is_gone_is_forgotten(disk: SimDisk) -> None:
    log, schedule = dirty_log(disk, "log", 10), schedule_on(disk)
    assignment = schedule.next_assignment([log], now_ms=100)
    assert assignment is not None
    schedule.finish(assignment, done(10), now_ms=100)
    schedule.forget(log.topic_partition, LOG_DIR)
    assert checkpoints.read_offsets(disk, f"{LOG_DIR}/{checkpoints.CLEANER_OFFSETS}") == {}


def test_the_next_schedule_goes_on_where_the_checkpoint_stands(disk: SimDisk) -> None:
    log = open_log(disk)
    writer = Writer(log)
    for n in range(20):
        writer.put((f"k{n % 3}", f"{n}"))
    log.roll(now_ms=100)
    assert Cleaning(disk).run(log, now_ms=100) is not None
    assert Cleaning(disk).run(log, now_ms=200) is None
    assert schedule_on(disk).clean_until(CompactedLog(STOCK, LOG_DIR, log)) == 20


def test_a_broken_checkpoint_makes_its_logs_dirty_again(disk: SimDisk) -> None:
    log = dirty_log(disk, "a", 10)
    replace_file(disk, f"{LOG_DIR}/{checkpoints.CLEANER_OFFSETS}", b"broken")
    schedule = schedule_on(disk)
    assignment = schedule.next_assignment([log], now_ms=100)
    assert assignment is not None
    assert assignment.job.first_dirty_offset == 0
    assert checkpoints.CLEANER_OFFSETS in str(schedule.discarded[0])
    schedule.finish(assignment, done(5), now_ms=100)
    assert schedule_on(disk).clean_until(log) == 5
