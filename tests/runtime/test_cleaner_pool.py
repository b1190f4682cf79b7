from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from quire.records.batch import encode_pairs
from quire.runtime.cleaner_pool import CleanerPool
from quire.runtime.disk import RealDisk
from quire.sim.entropy import SeededEntropy
from quire.storage.cleaner.job import CleanedGroup, CleaningDone, CleaningFailed, LastOfProducer
from quire.storage.cleaner.schedule import (
    Assignment,
    CleanerSchedule,
    CleanerSettings,
    CompactedLog,
)
from quire.storage.loading import LastStop
from quire.storage.log import Log
from quire.storage.settings import LogSettings
from quire.types import TopicPartition

STOCK = TopicPartition("stock", 0)
SETTINGS = LogSettings(cleanup_policy_compact=True, cleanup_policy_delete=False, segment_bytes=4000)


def written_log(directory: Path) -> Log:
    directory.mkdir()
    log = Log.open(
        RealDisk(), str(directory), SETTINGS, now_ms=0, last_stop=LastStop(), draw_below=lambda _: 0
    )
    for n in range(300):
        batch = encode_pairs([(b"k%d" % (n % 7), b"value %d" % n)], 1000 + n)
        log.append(batch, leader_epoch=0, now_ms=1000 + n)
    log.update_high_watermark(log.log_end_offset)
    log.roll(now_ms=2000)
    log.flush(now_ms=2000)
    return log


def assigned(log: Log, log_dir: Path) -> tuple[CleanerSchedule, Assignment]:
    settings = CleanerSettings(dedupe_buffer_bytes=1 << 20)
    schedule = CleanerSchedule(RealDisk(), settings, SeededEntropy(1))
    assignment = schedule.next_assignment([CompactedLog(STOCK, str(log_dir), log)], now_ms=2000)
    assert assignment is not None
    return schedule, assignment


def test_a_cleaning_in_another_process_is_committed_group_by_group(tmp_path: Path) -> None:
    log = written_log(tmp_path / "stock-0")
    schedule, assignment = assigned(log, tmp_path)
    groups = 0
    with CleanerPool() as pool:
        worker = pool.start(assignment.job)
        assert not pool.has_room
        while not isinstance(event := worker.poll(30), CleaningDone):
            assert isinstance(event, CleanedGroup), event
            assert log.replace_segments(event.base_offsets, now_ms=2000)
            groups += 1
            worker.go_on()
        schedule.finish(assignment, event, now_ms=2000)
        assert pool.has_room
    assert groups > 1
    assert event.records_after == 7
    assert (tmp_path / "cleaner-offset-checkpoint").read_text() == "0\n1\nstock 0 300\n"


def test_a_corrupt_batch_fails_the_cleaning_with_file_and_position(tmp_path: Path) -> None:
    log = written_log(tmp_path / "stock-0")
    schedule, assignment = assigned(log, tmp_path)
    path = Path(log.segments[0].path)
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    with CleanerPool() as pool:
        event = pool.start(assignment.job).poll(30)
    assert isinstance(event, CleaningFailed)
    assert str(path) in event.reason
    schedule.fail(assignment, event.reason)
    assert schedule.figures.uncleanable_partitions_count == 1
    assert schedule.figures.uncleanable_bytes > 0


def test_a_worker_that_dies_counts_as_failed(tmp_path: Path) -> None:
    log = written_log(tmp_path / "stock-0")
    _, assignment = assigned(log, tmp_path)
    with CleanerPool() as pool:
        worker = pool.start(assignment.job)
        assert isinstance(worker.poll(30), CleanedGroup)
        worker._process.kill()
        event = worker.poll(30)
    assert isinstance(event, CleaningFailed)
    assert "exit code" in event.reason


def test_a_cleaning_that_is_given_up_leaves_the_log_as_it_was(tmp_path: Path) -> None:
    log = written_log(tmp_path / "stock-0")
    before = [segment.base_offset for segment in log.segments]
    _, assignment = assigned(log, tmp_path)
    with CleanerPool() as pool:
        assert isinstance(pool.start(assignment.job).poll(30), CleanedGroup)
    log.close(now_ms=3000)
    again = Log.open(
        RealDisk(), str(tmp_path / "stock-0"), SETTINGS, now_ms=3000,
        last_stop=LastStop(clean=True), draw_below=lambda _: 0,
    )  # fmt: skip
    assert [segment.base_offset for segment in again.segments] == before
    assert not list((tmp_path / "stock-0").glob("*.cleaned"))


def test_a_big_job_does_not_wait_for_a_process_that_is_slow_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeper = tmp_path / "slow"
    sleeper.write_text("#!/bin/sh\nexec sleep 30\n")
    sleeper.chmod(0o700)
    log = written_log(tmp_path / "stock-0")
    _, assignment = assigned(log, tmp_path)
    producers = {number: LastOfProducer(number, 0) for number in range(50_000)}
    monkeypatch.setattr(sys, "executable", str(sleeper))
    with CleanerPool() as pool:
        worker = pool.start(replace(assignment.job, last_of_producers=producers))
        assert worker.poll() is None
