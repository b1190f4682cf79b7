"""The second act: a log is written by one process, killed in the middle, recovered, compacted and dumped by another.

Not here   the attack with hundreds of seeds (tests/crash).
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import click

from quire.records.batch import Compression, Record, decode_batch, encode_batch, iterate_headers
from quire.runtime.cleaner_pool import CleanerPool
from quire.runtime.clock import RealClock
from quire.runtime.disk import RealDisk
from quire.runtime.entropy import RealEntropy
from quire.storage.cleaner.job import CleanedGroup, CleaningDone, CleaningFailed
from quire.storage.cleaner.schedule import CleanerSchedule, CleanerSettings, CompactedLog
from quire.storage.loading import LastStop
from quire.storage.log import Log
from quire.storage.settings import LogSettings
from quire.tools.demo.telling import fail, say
from quire.types import TopicPartition

STOCK = TopicPartition("stock", 0)
SETTINGS = LogSettings(
    cleanup_policy_compact=True,
    cleanup_policy_delete=False,
    segment_bytes=1 << 20,
    min_cleanable_dirty_ratio=0.0,
)
ITEMS = 500
RECORDS_PER_BATCH = 100
BATCHES_PER_FLUSH = 50
KILL_AFTER_BATCHES = 900
CODECS = tuple(Compression)


def open_log(directory: str) -> Log:
    """The log as a broker opens it after an unclean stop that left no checkpoint."""
    return Log.open(
        RealDisk(),
        directory,
        SETTINGS,
        now_ms=RealClock().wall_ms(),
        last_stop=LastStop(),
        draw_below=RealEntropy().below,
    )


def value_of(offset: int) -> bytes:
    """A stock level, with enough noise behind it that the codecs have something to do."""
    noise = hashlib.blake2b(b"%d" % offset, digest_size=32).hexdigest()
    return b"stock %d %s" % (offset, noise.encode())


def batch_of(number: int, now_ms: int) -> bytearray:
    """One hundred stock levels; each batch with another codec."""
    first = number * RECORDS_PER_BATCH
    records = [
        Record(n, now_ms, b"item-%03d" % ((first + n) % ITEMS), value_of(first + n), ())
        for n in range(RECORDS_PER_BATCH)
    ]
    return encode_batch(records, compression=CODECS[number % len(CODECS)])


def write_for_ever(directory: str) -> None:
    """The victim: append and flush, and say after each flush what is safe."""
    log, clock = open_log(directory), RealClock()
    number = 0
    while True:
        now_ms = clock.wall_ms()
        log.append(batch_of(number, now_ms), leader_epoch=0, now_ms=now_ms)
        number += 1
        if number % BATCHES_PER_FLUSH == 0:
            log.flush(now_ms=now_ms)
            sys.stdout.write(f"{number} {log.recovery_point} {len(log.segments)}\n")
            sys.stdout.flush()


def kill_in_the_middle(directory: str) -> int:
    """Let another process write, kill it while it does, and return the offset it had flushed."""
    victim = subprocess.Popen(
        [sys.executable, "-m", "quire.tools.demo", directory], stdout=subprocess.PIPE, text=True
    )
    assert victim.stdout is not None
    flushed = segments = 0
    with victim, victim.stdout as lines:
        for line in lines:
            batches, flushed, segments = map(int, line.split())
            if batches >= KILL_AFTER_BATCHES:
                victim.kill()
                break
    say(
        f"wrote {flushed:,} records in all five codecs, {segments} segments; killed (SIGKILL) in the middle"
    )
    return flushed


def recover(directory: str, flushed: int) -> Log:
    """Tear the tail as a power loss would, open the log, and hold it to what was flushed."""
    disk = RealDisk()
    segment = max(name for name in disk.list(directory) if name.endswith(".log"))
    file = disk.open(f"{directory}/{segment}")
    file.write(file.size(), [batch_of(0, 0)[:-9]])
    file.close()
    start = time.perf_counter()
    log = open_log(directory)
    seconds = time.perf_counter() - start
    report = log.recovery
    say(
        f"recovered {report.scanned_bytes / 1e6:.1f} MB in {1000 * seconds:.0f} ms "
        f"({report.scanned_bytes / 1e6 / seconds:.0f} MB/s); cut {report.truncated_bytes:,} torn bytes: {report.reason}"
    )
    if log.log_end_offset < flushed:
        fail(f"flushed up to {flushed}, but the log ends at {log.log_end_offset}")
    say(f"the log ends at {log.log_end_offset:,}; all {flushed:,} flushed records are there")
    return log


def compact(log: Log, log_dir: str) -> None:
    """One cleaning in a process of its own."""
    clock = RealClock()
    now_ms = clock.wall_ms()
    log.update_high_watermark(log.log_end_offset)
    log.roll(now_ms=now_ms)
    log.flush(now_ms=now_ms)
    settings = CleanerSettings(dedupe_buffer_bytes=1 << 20)
    schedule = CleanerSchedule(RealDisk(), settings, RealEntropy())
    assignment = schedule.next_assignment([CompactedLog(STOCK, log_dir, log)], now_ms=now_ms)
    assert assignment is not None
    with CleanerPool() as pool:
        worker = pool.start(assignment.job)
        while True:
            event = worker.poll(60)
            if isinstance(event, CleanedGroup):
                log.replace_segments(event.base_offsets, now_ms=now_ms)
                worker.go_on()
            elif isinstance(event, CleaningDone):
                schedule.finish(assignment, event, now_ms=clock.wall_ms())
                say(
                    f"compacted {event.records_before:,} records ({event.bytes_before / 1e6:.1f} MB) to "
                    f"{event.records_after:,} ({event.bytes_after / 1e3:.1f} kB)"
                )
                return
            else:
                reason = event.reason if isinstance(event, CleaningFailed) else "it takes too long"
                fail(f"the cleaning failed: {reason}")


def records_of(log: Log) -> Iterator[Record]:
    """Every record of the log, in order."""
    for segment in log.segments:
        content = segment.file.read(0, segment.size)
        for position, header in iterate_headers(content):
            if header.record_count:
                yield from decode_batch(content, position)


def show(directory: str, log: Log) -> None:
    """Dump what is left, and hold it to what every item must be."""
    latest = {record.key: record.value for record in records_of(log)}
    expected = {}
    for offset in range(log.log_end_offset):
        expected[b"item-%03d" % (offset % ITEMS)] = value_of(offset)
    if latest != expected:
        fail("an item does not have its newest stock level")
    say(f"each of the {len(latest)} items has its newest stock level; the offsets did not move")
    log.close(now_ms=RealClock().wall_ms())
    command = ["log", "dump", "--check", directory]
    say(f"quire {' '.join(command)}")
    subprocess.run([sys.executable, "-m", "quire", *command], check=True)
    command = ["log", "dump", "--payloads", directory]
    say(f"quire {' '.join(command)}: its last five records")
    dumped = subprocess.run(
        [sys.executable, "-m", "quire", *command], check=True, capture_output=True, text=True
    )
    for line in [line for line in dumped.stdout.splitlines() if "record " in line][-5:]:
        click.echo(line[:150])


def act() -> None:
    """The whole act, in a temporary directory."""
    with tempfile.TemporaryDirectory(prefix="quire-demo-") as log_dir:
        directory = f"{log_dir}/{STOCK}"
        RealDisk().make_directory(directory)
        say(f"a compacted log in {directory}")
        flushed = kill_in_the_middle(directory)
        log = recover(directory, flushed)
        compact(log, log_dir)
        show(directory, log)
