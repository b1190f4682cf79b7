"""One data directory, written by Apache Kafka, by Quire, by Kafka again: both read the same records.

Quire adds every codec, transactions, several segments and a compaction, and is killed once in between; Apache Kafka's
own dump tool checks the files, and an Apache Kafka started on them serves the records.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.interop.kafka import Kafka, require_java

from quire.records.batch import Compression, Record, decode_batch, encode_batch, iterate_headers
from quire.records.control import ControlType, encode_end_transaction_marker
from quire.runtime.clock import RealClock
from quire.runtime.disk import RealDisk
from quire.runtime.entropy import RealEntropy
from quire.storage.append import AppendInfo
from quire.storage.cleaner.job import CleanedGroup, CleaningDone
from quire.storage.cleaner.rewrite import clean
from quire.storage.cleaner.schedule import CleanerSchedule, CleanerSettings, CompactedLog
from quire.storage.log import Log
from quire.storage.log_dir import LogToOpen
from quire.storage.log_dirs import LogDirs
from quire.storage.settings import LogSettings
from quire.types import TopicPartition

pytestmark = [pytest.mark.peer, pytest.mark.slow]

SETTINGS = {
    "codecs": LogSettings(segment_bytes=20_000),
    "transactions": LogSettings(segment_bytes=20_000),
    "compacted": LogSettings(
        segment_bytes=20_000,
        cleanup_policy_compact=True,
        cleanup_policy_delete=False,
        min_cleanable_dirty_ratio=0.0,
    ),
}
BY_KAFKA = [(f"key{n}", f"by-kafka-{n}") for n in range(20)]


def now_ms() -> int:
    return RealClock().wall_ms()


def open_one(to_open: LogToOpen) -> Log:
    topic = to_open.topic_partition.topic
    return Log.open(
        RealDisk(),
        to_open.directory,
        SETTINGS.get(topic, LogSettings()),
        now_ms=now_ms(),
        last_stop=to_open.last_stop,
        draw_below=RealEntropy().below,
    )


class Quire:
    """Quire's storage on a directory: opened as a broker opens it, closed as one closes it."""

    def __init__(self, data: Path) -> None:
        self.log_dirs = LogDirs.open(RealDisk(), [str(data)], entropy=RealEntropy())
        self.log_dirs.load(open_one)
        for hosted in self.log_dirs:
            hosted.log.update_high_watermark(1 << 60)

    def log(self, topic: str) -> Log:
        hosted = self.log_dirs.get(TopicPartition(topic, 0))
        assert hosted is not None
        assert isinstance(hosted.log, Log)
        return hosted.log

    def close(self) -> None:
        self.log_dirs.close(now_ms=now_ms(), broker_epoch=0)


def append(
    log: Log,
    pairs: list[tuple[str, str]],
    compression: Compression,
    producer: int = -1,
    sequence: int = -1,
) -> None:
    moment = now_ms()
    records = [
        Record(n, moment, key.encode(), value.encode(), (("by", b"quire"),))
        for n, (key, value) in enumerate(pairs)
    ]
    batch = encode_batch(
        records,
        compression=compression,
        producer_id=producer,
        producer_epoch=0 if producer >= 0 else -1,
        base_sequence=sequence,
        is_transactional=producer >= 0,
    )
    outcome = log.append(batch, leader_epoch=max(0, log.leader_epochs.latest_epoch), now_ms=moment)
    assert isinstance(outcome, AppendInfo), outcome
    log.update_high_watermark(log.log_end_offset)


def end(log: Log, producer: int, *, commit: bool) -> None:
    marker = encode_end_transaction_marker(
        ControlType.COMMIT if commit else ControlType.ABORT,
        coordinator_epoch=0, producer_id=producer, producer_epoch=0, timestamp=now_ms(),
    )  # fmt: skip
    log.append(
        marker,
        leader_epoch=max(0, log.leader_epochs.latest_epoch),
        now_ms=now_ms(),
        from_client=False,
    )
    log.update_high_watermark(log.log_end_offset)


def records_of(log: Log) -> Iterator[tuple[int, str, str]]:
    """Every data record as (offset, key, value)."""
    for segment in log.segments:
        content = segment.file.read(0, segment.size)
        for position, header in iterate_headers(content):
            if header.record_count and not header.is_control:
                for record in decode_batch(content, position):
                    yield (
                        record.offset,
                        (record.key or b"").decode(),
                        (record.value or b"").decode(),
                    )


def write_codecs(log: Log) -> None:
    for n, codec in enumerate(list(Compression) * 8):
        append(log, [(f"{codec.name}-{i}", f"{n}-{'x' * 200}-{i}") for i in range(20)], codec)
    assert len(log.segments) > 2


def write_transactions(log: Log) -> None:
    for n in range(40):
        append(log, [(f"a{n}", "committed " * 20)], Compression.NONE, producer=7001, sequence=n)
        append(log, [(f"b{n}", "aborted " * 20)], Compression.LZ4, producer=7002, sequence=n)
        end(log, 7001, commit=True)
        end(log, 7002, commit=False)
    assert len(log.segments) > 1


def write_and_compact(log: Log, data: Path) -> None:
    for n in range(60):
        append(log, [(f"key{i}", f"{n}-{'y' * 60}-{i}") for i in range(20)], Compression(n % 5))
    log.roll(now_ms=now_ms())
    log.flush(now_ms=now_ms())
    schedule = CleanerSchedule(
        RealDisk(), CleanerSettings(dedupe_buffer_bytes=1 << 20), RealEntropy()
    )
    hosted = CompactedLog(TopicPartition("compacted", 0), str(data), log)
    assignment = schedule.next_assignment([hosted], now_ms=now_ms())
    assert assignment is not None
    for event in clean(assignment.job, RealDisk(), lambda _: None):
        if isinstance(event, CleanedGroup):
            assert log.replace_segments(event.base_offsets, now_ms=now_ms())
        else:
            assert isinstance(event, CleaningDone)
            schedule.finish(assignment, event, now_ms=now_ms())


def kill_a_writer(data: Path) -> int:
    """Another process appends and flushes, and is killed (SIGKILL) while it does; the offset it had flushed."""
    program = textwrap.dedent(
        """
        import sys
        sys.path.insert(0, sys.argv[2])
        from tests.interop.test_one_directory_two_systems import *
        quire = Quire(Path(sys.argv[1]))
        log = quire.log("codecs")
        while True:
            append(log, [("killed", "z" * 300)], Compression.ZSTD)
            log.flush(now_ms=now_ms())
            print(log.recovery_point, flush=True)
        """
    )
    root = str(Path(__file__).parents[2])
    victim = subprocess.Popen(
        [sys.executable, "-c", program, str(data), root], stdout=subprocess.PIPE, text=True
    )
    assert victim.stdout is not None
    flushed = 0
    with victim, victim.stdout as lines:
        for line in lines:
            flushed = int(line)
            if flushed > 900:
                victim.kill()
                break
    assert flushed > 900
    return flushed


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Kafka:
    require_java()
    return Kafka(tmp_path_factory.mktemp("kafka"))


def test_a_directory_goes_from_kafka_to_quire_and_back(kafka: Kafka) -> None:
    # Apache Kafka makes the directory.
    kafka.format()
    with kafka.running():
        for topic, configs in (
            ("codecs", {}),
            ("transactions", {}),
            ("compacted", {"cleanup_policy": "compact"}),
        ):
            kafka.create_topic(topic, **configs)
            for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
                kafka.produce(topic, BY_KAFKA, codec)
        by_kafka = {topic: kafka.consume(topic, 100) for topic in SETTINGS}

    # Quire opens it, reads the same records, and writes.
    quire = Quire(kafka.data)
    for topic, expected in by_kafka.items():
        assert quire.log(topic).recovery.is_sound
        assert quire.log(topic).recovery.scanned_bytes == 0, "it was stopped cleanly"
        assert list(records_of(quire.log(topic))) == expected
    write_codecs(quire.log("codecs"))
    write_transactions(quire.log("transactions"))
    write_and_compact(quire.log("compacted"), kafka.data)
    quire.close()

    # Another Quire is killed in the middle; the next one recovers, and stops cleanly.
    flushed = kill_a_writer(kafka.data)
    quire = Quire(kafka.data)
    assert quire.log("codecs").log_end_offset >= flushed
    assert quire.log("codecs").recovery.scanned_bytes > 0
    written = {topic: list(records_of(quire.log(topic))) for topic in SETTINGS}
    ends = {topic: quire.log(topic).log_end_offset for topic in SETTINGS}
    quire.close()

    # Apache Kafka's own tool finds nothing wrong with any file.
    for topic in SETTINGS:
        folder = kafka.data / f"{topic}-0"
        for path in sorted(folder.iterdir()):
            if path.suffix in (".index", ".timeindex"):
                printed = kafka.dump("--index-sanity-check", "--files", str(path))
                sound = ("passed sanity check", "is empty")
                assert path.suffix == ".timeindex" or any(words in printed for words in sound), (
                    printed
                )
                assert "mismatch" not in printed.lower(), printed
                assert "Found" not in printed, printed
            elif path.suffix == ".log":
                printed = kafka.dump("--deep-iteration", "--files", str(path))
                assert "isvalid: false" not in printed
                assert "invalid bytes" not in printed

    # Apache Kafka starts on it, and serves the same records.
    with kafka.running():
        assert {topic: kafka.end_offset(topic) for topic in SETTINGS} == ends
        for topic, expected in written.items():
            assert kafka.consume(topic, len(expected)) == expected
        committed = [row for row in written["transactions"] if not row[2].startswith("aborted")]
        assert kafka.consume("transactions", len(committed), committed=True) == committed
        newest = {key: value for _, key, value in written["compacted"]}
        assert newest == {f"key{i}": f"59-{'y' * 60}-{i}" for i in range(20)}
        assert len(written["compacted"]) == 20
    server_log = (kafka.directory / "server.log").read_text()
    assert "Corrupt" not in server_log, server_log[-3000:]
    assert "stray" not in server_log, server_log[-3000:]


__all__ = ["Compression", "Path", "Quire", "append", "now_ms", "partial"]
