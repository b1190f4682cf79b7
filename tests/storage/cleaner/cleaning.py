"""What the cleaner's tests share: a small log on a simulated disk, a writer, a cleaning, and what a reader sees."""

from __future__ import annotations

from collections.abc import Iterator

from quire.ports.disk import Disk
from quire.records.batch import (
    BatchHeader,
    Compression,
    Record,
    decode_batch,
    encode_batch,
    iterate_headers,
)
from quire.records.control import ControlType, encode_end_transaction_marker
from quire.sim.entropy import SeededEntropy
from quire.storage.cleaner.job import CleanedGroup, CleaningDone
from quire.storage.cleaner.rewrite import clean
from quire.storage.cleaner.schedule import CleanerSchedule, CleanerSettings, CompactedLog
from quire.storage.loading import LastStop
from quire.storage.log import Log
from quire.storage.settings import LogSettings
from quire.types import TopicPartition

LOG_DIR = "/data"
DIRECTORY = f"{LOG_DIR}/stock-0"
STOCK = TopicPartition("stock", 0)
SETTINGS = LogSettings(
    cleanup_policy_compact=True,
    cleanup_policy_delete=False,
    segment_bytes=600,
    index_interval_bytes=64,
    delete_retention_ms=1000,
    min_cleanable_dirty_ratio=0.0,
)


def open_log(disk: Disk, settings: LogSettings = SETTINGS, *, now_ms: int = 0) -> Log:
    disk.make_directory(DIRECTORY)
    return Log.open(
        disk, DIRECTORY, settings, now_ms=now_ms, last_stop=LastStop(), draw_below=lambda _: 0
    )


class Writer:
    """Appends to a log as clients and coordinators would, and moves the high watermark along."""

    def __init__(self, log: Log, compression: Compression = Compression.NONE) -> None:
        self.log = log
        self.compression = compression
        self.now_ms = 10
        self.sequences: dict[int, int] = {}

    def put(
        self, *pairs: tuple[str | None, str | None], producer: int = -1, transactional: bool = False
    ) -> None:
        self.now_ms += 1
        records = [
            Record(
                i,
                self.now_ms,
                None if k is None else k.encode(),
                None if v is None else v.encode(),
                (),
            )
            for i, (k, v) in enumerate(pairs)
        ]
        sequence = -1
        if producer >= 0:
            sequence = self.sequences.get(producer, 0)
            self.sequences[producer] = sequence + len(pairs)
        batch = encode_batch(
            records,
            compression=self.compression,
            producer_id=producer,
            producer_epoch=0 if producer >= 0 else -1,
            base_sequence=sequence,
            is_transactional=transactional,
        )
        self._append(batch, from_client=True)

    def end(self, producer: int, *, commit: bool) -> None:
        self.now_ms += 1
        kind = ControlType.COMMIT if commit else ControlType.ABORT
        self._append(
            encode_end_transaction_marker(
                kind,
                coordinator_epoch=0,
                producer_id=producer,
                producer_epoch=0,
                timestamp=self.now_ms,
            ),
            from_client=False,
        )

    def _append(self, batch: bytearray, *, from_client: bool) -> None:
        outcome = self.log.append(
            batch, leader_epoch=0, now_ms=self.now_ms, from_client=from_client
        )
        assert hasattr(outcome, "first_offset"), outcome
        self.log.update_high_watermark(self.log.log_end_offset)


class Cleaning:
    """A schedule with everything inline."""

    def __init__(self, disk: Disk, *, map_bytes: int = 24 * 1000) -> None:
        self.disk = disk
        settings = CleanerSettings(dedupe_buffer_bytes=map_bytes, io_buffer_bytes=256)
        self.schedule = CleanerSchedule(disk, settings, SeededEntropy(7))

    def run(self, log: Log, *, now_ms: int) -> CleaningDone | None:
        """One cleaning from choice to checkpoint, of all that is sealed; None when nothing was due."""
        log.flush(now_ms=now_ms)
        assignment = self.schedule.next_assignment(
            [CompactedLog(STOCK, LOG_DIR, log)], now_ms=now_ms
        )
        if assignment is None:
            return None
        for event in clean(assignment.job, self.disk, lambda _: None):
            if isinstance(event, CleanedGroup):
                assert log.replace_segments(event.base_offsets, now_ms=now_ms)
            else:
                self.schedule.finish(assignment, event, now_ms=now_ms)
                return event
        raise AssertionError("a cleaning ends with its last word")


def batches(log: Log) -> Iterator[tuple[BatchHeader, list[Record]]]:
    for segment in log.segments:
        content = segment.file.read(0, segment.size)
        for position, header in iterate_headers(content):
            yield header, decode_batch(content, position) if header.record_count else []


def committed(log: Log) -> list[Record]:
    """What a reader of committed data is given, from the log's own list of aborted transactions."""
    aborted = log.aborted_transactions(log.log_start_offset, log.last_stable_offset)
    hidden = {
        header.base_offset
        for header, _ in batches(log)
        for one in aborted
        if header.producer_id == one.producer_id
        and one.first_offset <= header.base_offset < one.last_offset
    }
    return [
        record
        for header, records in batches(log)
        if not header.is_control and header.base_offset not in hidden
        for record in records
        if record.offset < log.last_stable_offset
    ]


def newest(records: list[Record]) -> dict[bytes | None, bytes | None]:
    """The table that a compacted topic stands for: tombstoned keys are not in it."""
    table = {record.key: record.value for record in records}
    return {key: value for key, value in table.items() if value is not None}
