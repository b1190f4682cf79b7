"""How fast is a log compacted, by the real pool, in how much memory?

MB of log per CPU second of the worker process, start and imports included, beside a bare copy of the same files (read,
written, flushed). Every key is written twice on the average, so about half of the log goes. The dedupe buffer is as
small as these keys allow, so that all of it is really used; the rest of the worker's peak must stay within 64 MB,
whatever the log's size: `--mb 1024` shows it.

    python bench/log_compaction.py [--mb 256] [--segment-mb 64] [--rounds 3] [--directory DIR]
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from statistics import median
from typing import NamedTuple

from measure import Answer, Spent, tell

from quire.records.batch import encode_pairs
from quire.runtime.cleaner_pool import CleanerPool, CleaningWorker
from quire.runtime.disk import RealDisk
from quire.sim.entropy import SeededEntropy
from quire.storage.cleaner.job import CleanedGroup, CleaningDone, CleaningFailed
from quire.storage.cleaner.schedule import CleanerSchedule, CleanerSettings, CompactedLog
from quire.storage.loading import LastStop
from quire.storage.log import Log
from quire.storage.settings import LogSettings
from quire.types import TopicPartition

BATCH_RECORDS = 1000
RECORD_BYTES = 120
SLOT_BYTES = 24
MEMORY_TARGET_MB = 64
STOCK = TopicPartition("stock", 0)


class Cleaning(NamedTuple):
    """What one cleaning took."""

    cpu_s: float
    wall_s: float
    log_mb: float
    cleaned_mb: float
    peak_mb: float
    buffer_mb: float
    keys: int


def written_log(directory: str, *, megabytes: int, segment_mb: int) -> tuple[Log, int]:
    settings = LogSettings(
        cleanup_policy_compact=True,
        cleanup_policy_delete=False,
        segment_bytes=segment_mb * 1_000_000,
    )
    os.mkdir(directory)
    log = Log.open(
        RealDisk(), directory, settings, now_ms=0, last_stop=LastStop(), draw_below=lambda _: 0
    )
    batches = max(2, megabytes * 1_000_000 // (RECORD_BYTES * BATCH_RECORDS))
    keys = batches * BATCH_RECORDS // 2
    value = b"v" * 100
    for number in range(batches):
        first = number * BATCH_RECORDS
        pairs = [
            (b"%010d" % (place * 2_654_435_761 % keys), value)
            for place in range(first, first + BATCH_RECORDS)
        ]
        log.append(encode_pairs(pairs, 1000 + number), leader_epoch=0, now_ms=1000 + number)
    log.update_high_watermark(log.log_end_offset)
    log.roll(now_ms=2000)
    log.flush(now_ms=2000)
    return log, keys


def peak_mb(worker: CleaningWorker) -> float:
    """The largest resident set so far; the worker waits for us after each group."""
    with open(f"/proc/{worker._process.pid}/status") as status:  # noqa: SLF001
        words = next(line.split() for line in status if line.startswith("VmHWM:"))
    return int(words[1]) * 1024 / 1e6


def children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cleaning(directory: str, *, megabytes: int, segment_mb: int) -> tuple[Cleaning, float]:
    """One cleaning of a new log, and the CPU seconds of a copy of the same files before it."""
    log, keys = written_log(f"{directory}/stock-0", megabytes=megabytes, segment_mb=segment_mb)
    paths = [segment.path for segment in log.segments]
    copied_s = copy_cpu_s(paths, f"{directory}/copy")
    buffer_bytes = (int(keys / 0.9) + 2) * SLOT_BYTES
    schedule = CleanerSchedule(
        RealDisk(), CleanerSettings(dedupe_buffer_bytes=buffer_bytes), SeededEntropy(1)
    )
    assignment = schedule.next_assignment([CompactedLog(STOCK, directory, log)], now_ms=10_000)
    assert assignment is not None
    peak, cpu_s, began = 0.0, children_cpu_s(), time.perf_counter()
    with CleanerPool() as pool:
        worker = pool.start(assignment.job)
        while not isinstance(event := worker.poll(600), CleaningDone):
            assert isinstance(event, CleanedGroup), event
            peak = max(peak, peak_mb(worker))
            assert log.replace_segments(event.base_offsets, now_ms=10_000)
            worker.go_on()
    assert not isinstance(event, CleaningFailed)
    assert event.records_after == keys
    wall_s, cpu_s = time.perf_counter() - began, children_cpu_s() - cpu_s
    schedule.finish(assignment, event, now_ms=10_000)
    log.close(now_ms=10_000)
    sizes = event.bytes_before / 1e6, event.bytes_after / 1e6
    return Cleaning(cpu_s, wall_s, *sizes, peak, buffer_bytes / 1e6, keys), copied_s


def copy_cpu_s(paths: list[str], target: str) -> float:
    began = time.process_time()
    buffer = memoryview(bytearray(1 << 19))
    with open(target, "wb", buffering=0) as copy:
        for path in paths:
            with open(path, "rb", buffering=0) as file:
                while count := file.readinto(buffer):
                    copy.write(buffer[:count])
        os.fsync(copy.fileno())
    seconds = time.process_time() - began
    os.remove(target)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=256)
    parser.add_argument("--segment-mb", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory")
    options = parser.parse_args()
    cleanings, copies = [], []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory(dir=options.directory) as directory:
            done, copied_s = cleaning(
                directory, megabytes=options.mb, segment_mb=options.segment_mb
            )
        cleanings.append(done)
        copies.append(copied_s)
    log_mb = cleanings[0].log_mb
    took = Spent(min(c.cpu_s for c in cleanings), median(c.cpu_s for c in cleanings))
    above_mb = max(c.peak_mb - c.buffer_mb for c in cleanings)
    last = cleanings[-1]
    answer = Answer(
        best=log_mb / took.best,
        median=log_mb / took.median,
        unit="MB per CPU second",
        beside={"a bare copy": min(copies) / took.best},
        remarks=[
            (
                f"{log_mb:.0f} MB became {last.cleaned_mb:.0f} MB, {last.keys} keys,"
                f" {log_mb / min(c.wall_s for c in cleanings):.0f} MB/s on the clock"
            ),
            (
                f"peak of the worker: {last.peak_mb:.0f} MB, which is {above_mb:.0f} MB above its dedupe"
                f" buffer of {last.buffer_mb:.0f} MB (target: at most {MEMORY_TARGET_MB} MB above)"
            ),
        ],
    )
    if above_mb > MEMORY_TARGET_MB:
        answer.missed.append(f"at most {MEMORY_TARGET_MB} MB above the dedupe buffer")
    tell(answer)


if __name__ == "__main__":
    main()
