"""A log under attack: random work on a simulated disk, a crash at a random operation, recovery, and the laws.

The model remembers what was appended at every offset. After each crash the log is opened again on what the disk kept,
and must obey:

L1  Every record below the flushed end is there, with its own content, unless retention or compaction let it go.
L2  What is there was appended at that offset, by this history; nothing else is ever served.
L3  The log is whole: every checksum right, offsets ascending, and without compaction no offset missing.
L4  Lookups by index find what a linear walk finds; the indexes pass their own checks.
L5  The table that a reader of committed data builds is that of the model, up to the log's end.
L6  Producer state and last stable offset are those of a replay of the whole log.
L7  A deletion is seen for delete.retention.ms: compaction takes no key's last tombstone before.
L8  Retention takes nothing at or above the high watermark.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from quire.records.batch import (
    BatchHeader,
    Compression,
    Record,
    decode_batch,
    encode_batch,
    iterate_headers,
)
from quire.records.control import (
    ControlType,
    encode_end_transaction_marker,
    read_end_transaction_marker,
)
from quire.sim.disk import SimDisk, SimulatedCrash
from quire.sim.entropy import SeededEntropy
from quire.storage import checkpoints, recovery, retention
from quire.storage.append import AppendInfo
from quire.storage.cleaner.job import CleanedGroup
from quire.storage.cleaner.rewrite import clean
from quire.storage.cleaner.schedule import CleanerSchedule, CleanerSettings, CompactedLog
from quire.storage.loading import LastStop
from quire.storage.log import Log
from quire.storage.lookup import ReadResult
from quire.storage.segment import Segment
from quire.storage.settings import LogSettings
from quire.types import TopicPartition

LOG_DIR = "/data"
DIRECTORY = f"{LOG_DIR}/t-0"
PARTITION = TopicPartition("t", 0)
PRODUCERS = (1, 2, 3)
KEYS = tuple(f"key-{n}".encode() for n in range(8))
STEPS_PER_LIFE = 60


class Appended(NamedTuple):
    """What was appended at one offset."""

    key: bytes | None
    value: bytes | None
    producer_id: int
    transactional: bool
    marker: bool | None
    """True for a commit, False for an abort, None for data."""


@dataclass
class Model:
    """What the log was told, and what it promised."""

    versions: dict[int, list[Appended]] = field(default_factory=dict)
    """Everything ever appended at an offset; more than one only after a truncation."""
    appended_ms: dict[int, int] = field(default_factory=dict)
    flushed_end: int = 0
    truncated: bool = False
    cut_producers: set[int] = field(default_factory=set)
    """Compaction keeps a producer's newest batch: if a crash takes that one, an older may be gone."""
    sequences: dict[int, int] = field(default_factory=dict)
    in_transaction: set[int] = field(default_factory=set)

    def expect(self, offset: int, appended: list[Appended]) -> None:
        for number, one in enumerate(appended):
            self.versions.setdefault(offset + number, []).append(one)

    def forget_from(self, end_offset: int) -> None:
        """The log ends here now: nothing at or above was there.

        An interrupted truncation, though, may be undone by a later power loss: then both histories are right.
        """
        if self.truncated:
            return
        gone = [offset for offset in self.versions if offset >= end_offset]
        for offset in gone:
            self.cut_producers.update(one.producer_id for one in self.versions.pop(offset))


class LostPromiseError(AssertionError):
    """A law is broken; the message says which."""


class World:
    """One seed: a disk, a log, a model, and several lives."""

    def __init__(self, seed: int, *, compacted: bool) -> None:
        self.entropy = SeededEntropy(seed)
        self.disk = SimDisk(seed)
        self.compacted = compacted
        self.now_ms = 1_000_000
        self.model = Model()
        self.crashes = 0
        self.refusals = 0
        self.settings = LogSettings(
            cleanup_policy_compact=compacted,
            cleanup_policy_delete=not compacted,
            segment_bytes=300 + self.entropy.below(1200),
            index_interval_bytes=self.entropy.below(200),
            retention_ms=-1,
            retention_bytes=-1
            if compacted or self.entropy.one_in(2)
            else max(0, self.entropy.below(3000) - 500),
            delete_retention_ms=self.entropy.below(400),
            file_delete_delay_ms=self.entropy.below(50),
            min_cleanable_dirty_ratio=0.0,
            preallocate=self.entropy.one_in(4),
        )
        self.disk.make_directory(DIRECTORY)
        for path in ("/", LOG_DIR):
            self.disk.flush_directory(path)
        self.log = self._open(LastStop())

    # --- lives -----------------------------------------------------------------------------------

    def run(self, lives: int) -> None:
        for _ in range(lives):
            self.live()
            self.check()

    def live(self) -> None:
        """Work until the disk strikes, or until the work is done; then open what is left."""
        self.disk.faults.fail_after(operations=self.entropy.below(150))
        if self.entropy.one_in(4):
            self.disk.faults.capacity_bytes = self._used_bytes() + self.entropy.below(3000)
        try:
            for _ in range(STEPS_PER_LIFE):
                self.step()
            if self.entropy.one_in(2):
                self._stop_cleanly()
                return
        except SimulatedCrash:
            self.crashes += 1
        while True:
            self.disk = self.disk.kill() if self.entropy.one_in(3) else self.disk.crash()
            self.disk.faults.capacity_bytes = None
            if self.entropy.one_in(3):
                self.disk.faults.fail_after(operations=self.entropy.below(20))
            try:
                last_stop = self._last_stop()
                self.log = self._open(last_stop)
                if self.log.recovery_point < last_stop.recovery_point:
                    self._write_checkpoints()  # before anything is appended, as LogDirs.load does
                break
            except SimulatedCrash:
                self.crashes += 1
        self._learn_end()

    def step(self) -> None:
        """One random piece of work; a full or failing disk refuses some, which must change nothing."""
        self.now_ms += self.entropy.below(30)
        weighted = self.WORK_COMPACTED if self.compacted else self.WORK
        work = weighted[self.entropy.below(len(weighted))]
        most_operations = self.MANY_FILES.get(work)
        if most_operations is not None and self.entropy.one_in(4):
            self.disk.faults.fail_after(operations=self.entropy.below(most_operations))
        broken = self._break_something() if self.entropy.one_in(25) else None
        try:
            getattr(self, work)()
        except OSError:
            self.refusals += 1
        finally:
            if broken is not None:
                self.disk.faults.heal_path(broken)
        if self.log.failure is not None:
            raise SimulatedCrash

    # --- work ------------------------------------------------------------------------------------

    WORK = (
        *("append", "append", "append", "append", "append_idempotent", "append_transactional"),
        *("end_transaction", "flush", "flush", "roll", "checkpoint", "retain", "cut_head"),
        *("unlink", "append", "truncate"),
    )
    MANY_FILES: ClassVar = {"compact": 60, "truncate": 20, "retain": 20, "cut_head": 20, "roll": 8}
    """Work of many steps, in the middle of which the disk strikes more often."""
    WORK_COMPACTED = (
        *("append", "append", "append", "append", "append_idempotent", "append_transactional"),
        *("end_transaction", "flush", "roll", "checkpoint", "unlink", "compact", "compact"),
    )

    def append(self) -> None:
        self._append_data(producer=-1, transactional=False)

    def append_idempotent(self) -> None:
        free = [p for p in PRODUCERS if p not in self.model.in_transaction]
        if free:
            self._append_data(producer=free[self.entropy.below(len(free))], transactional=False)

    def append_transactional(self) -> None:
        producer = PRODUCERS[self.entropy.below(len(PRODUCERS))]
        self._append_data(producer=producer, transactional=True)

    def end_transaction(self) -> None:
        opened = sorted(self.model.in_transaction)
        if not opened:
            return
        producer = opened[self.entropy.below(len(opened))]
        commit = self.entropy.one_in(2)
        marker = encode_end_transaction_marker(
            ControlType.COMMIT if commit else ControlType.ABORT,
            coordinator_epoch=0, producer_id=producer, producer_epoch=0, timestamp=self.now_ms,
        )  # fmt: skip
        self._append(
            marker,
            [Appended(None, None, producer, transactional=True, marker=commit)],
            from_client=False,
        )
        self.model.in_transaction.discard(producer)

    def flush(self) -> None:
        self.log.flush(now_ms=self.now_ms)
        self.model.flushed_end = max(self.model.flushed_end, self.log.recovery_point)

    def roll(self) -> None:
        self.log.roll(now_ms=self.now_ms)

    def checkpoint(self) -> None:
        self._write_checkpoints()

    def retain(self) -> None:
        committed = self.log.high_watermark
        retention.enforce(self.log, now_ms=self.now_ms)
        self._demand(
            self.log.log_start_offset <= committed,
            f"L8 retention took what {committed} did not cover",
        )

    def cut_head(self) -> None:
        span = self.log.high_watermark - self.log.log_start_offset
        if span > 0 and self.entropy.one_in(3):
            offset = self.log.log_start_offset + self.entropy.below(span + 1)
            self.log.advance_log_start_offset(offset, now_ms=self.now_ms)

    def unlink(self) -> None:
        for deletion in self.log.deletions.due(self.now_ms):
            deletion.run()

    def truncate(self) -> None:
        """As a follower whose leader has less; what it drops was never safe."""
        if not self.entropy.one_in(2):
            return
        span = min(10, self.log.log_end_offset - self.log.log_start_offset)
        if span <= 0:
            return
        offset = self.log.log_end_offset - 1 - self.entropy.below(span)
        self.model.flushed_end = 0
        self.model.truncated = True
        self.log.truncate_to(offset, now_ms=self.now_ms)
        self._write_checkpoints()
        self.log.update_high_watermark(self.log.log_end_offset)
        self._learn_end(forget=False)

    def compact(self) -> None:
        settings = CleanerSettings(
            dedupe_buffer_bytes=24 * (3 + self.entropy.below(40)),
            io_buffer_bytes=64 + self.entropy.below(500),
        )
        schedule = CleanerSchedule(self.disk, settings, self.entropy)
        logs = [CompactedLog(PARTITION, LOG_DIR, self.log)]
        assignment = schedule.next_assignment(logs, now_ms=self.now_ms)
        if assignment is None:
            return
        for event in clean(assignment.job, self.disk, lambda _: None):
            if isinstance(event, CleanedGroup):
                if self.entropy.one_in(8):
                    return  # given up in the middle
                if self.entropy.one_in(6):
                    self.disk.faults.fail_after(operations=self.entropy.below(14))
                if not self.log.replace_segments(event.base_offsets, now_ms=self.now_ms):
                    raise LostPromiseError("a group that nobody touched was not committed")
            else:
                schedule.finish(assignment, event, now_ms=self.now_ms)

    # --- laws ------------------------------------------------------------------------------------

    def check(self) -> None:
        self.disk.faults.fail_after(operations=1 << 40)
        log = self.log
        log.check()
        log.update_high_watermark(log.log_end_offset)
        faults = recovery.verify(log)
        self._demand(not faults, f"L3 {faults}")
        found = list(self._walk())
        self._check_contents(found)
        self._check_lookups(found)
        self._check_table(found)
        if self.compacted:
            self._check_tombstones(found)
        self._check_producers()

    def _walk(self) -> list[tuple[BatchHeader, list[Record]]]:
        """Every batch that the log would serve."""
        found = []
        for segment in self.log.segments:
            content = segment.file.read(0, segment.size)
            for position, header in iterate_headers(content):
                if header.last_offset >= self.log.log_start_offset:
                    records = decode_batch(content, position) if header.record_count else []
                    found.append((header, records))
        return found

    def _check_contents(self, found: list[tuple[BatchHeader, list[Record]]]) -> None:
        self._demand(
            self.log.log_end_offset >= self.model.flushed_end,
            f"L1 flushed up to {self.model.flushed_end}, found up to {self.log.log_end_offset}",
        )
        expected = None
        for header, records in found:
            if not self.compacted:
                self._demand(
                    expected is None or header.base_offset == expected,
                    f"L3 offset {header.base_offset} where {expected} is due",
                )
                self._demand(len(records) == header.last_offset_delta + 1, "L3 records are missing")
            expected = header.next_offset
            for record in records:
                self._check_record(header, record)
        if found:
            self._demand(
                expected == self.log.log_end_offset, "L3 the end is not where the last batch ends"
            )
        if not self.compacted and found:
            self._demand(
                found[0][0].base_offset <= self.log.log_start_offset, "L1 the head is missing"
            )
        if not found and not self.compacted:
            self._demand(
                self.log.log_start_offset == self.log.log_end_offset, "L1 everything is missing"
            )

    def _check_record(self, header: BatchHeader, record: Record) -> None:
        known = self.model.versions.get(record.offset, [])
        if header.is_control:
            marker = read_end_transaction_marker(record).committed
            ours = Appended(None, None, header.producer_id, transactional=True, marker=marker)
        else:
            ours = Appended(
                record.key,
                record.value,
                header.producer_id,
                transactional=header.is_transactional,
                marker=None,
            )
        self._demand(
            ours in known, f"L2 offset {record.offset} holds {ours}, appended were {known}"
        )

    def _check_lookups(self, found: list[tuple[BatchHeader, list[Record]]]) -> None:
        log = self.log
        for segment in log.segments:
            segment.offset_index.check(segment.size)
            segment.time_index.check()
            self._check_index_entries(segment)
        for header, _ in found:
            for offset in (max(header.base_offset, log.log_start_offset), header.last_offset):
                result = log.read(offset, max_bytes=1, upper_bound_offset=log.log_end_offset)
                assert isinstance(result, ReadResult), result
                first = next(iterate_headers(result[0].read()))[1]
                self._demand(
                    first.base_offset == header.base_offset,
                    f"L4 offset {offset} led to {first.base_offset}",
                )

    def _check_index_entries(self, segment: Segment) -> None:
        batches = dict(iterate_headers(segment.file.read(0, segment.size)))
        entries = segment.offset_index.entries
        for number in range(entries.count):
            relative_offset, position = entries.get(number)
            self._demand(
                position in batches
                and batches[position].last_offset == segment.base_offset + relative_offset,
                f"L4 {segment!r} has no batch at {position} that ends at +{relative_offset}",
            )

    def _check_tombstones(self, found: list[tuple[BatchHeader, list[Record]]]) -> None:
        there = {record.offset for _, records in found for record in records}
        retention_ms = self.settings.delete_retention_ms
        for offset in self._newest_offsets().values():
            is_fresh = self.now_ms < self.model.appended_ms[offset] + retention_ms
            if self.model.versions[offset][-1].value is None and is_fresh:
                self._demand(offset in there, f"L7 the tombstone at {offset} went too early")

    def _check_table(self, found: list[tuple[BatchHeader, list[Record]]]) -> None:
        if any(len(set(known)) > 1 for known in self.model.versions.values()):
            return  # after a truncation more than one history is right
        aborted = self.log.aborted_transactions(self.log.log_start_offset, self.log.log_end_offset)
        table: dict[bytes | None, bytes | None] = {}
        for header, records in found:
            hidden = header.is_control or any(
                header.is_transactional
                and one.producer_id == header.producer_id
                and one.first_offset <= header.base_offset < one.last_offset
                for one in aborted
            )
            if not hidden:
                start = self.log.log_start_offset
                table.update(
                    (record.key, record.value) for record in records if record.offset >= start
                )
        ours = {key: value for key, value in table.items() if value is not None}
        self._demand(ours == self._model_table(), f"L5 {ours} is not {self._model_table()}")

    def _model_table(self) -> dict[bytes | None, bytes | None]:
        table = {
            key: self.model.versions[offset][-1].value
            for key, offset in self._newest_offsets().items()
        }
        return {key: value for key, value in table.items() if value is not None}

    def _newest_offsets(self) -> dict[bytes | None, int]:
        """Where the newest record of each key is that no abort took back."""
        start = 0 if self.compacted else self.log.log_start_offset
        entries = [
            (offset, known[-1])
            for offset, known in sorted(self.model.versions.items())
            if offset < self.log.log_end_offset
        ]
        aborted: set[int] = set()
        opened: dict[int, list[int]] = {}
        for offset, one in entries:
            if one.marker is None and one.transactional:
                opened.setdefault(one.producer_id, []).append(offset)
            elif one.marker is not None:
                decided = opened.pop(one.producer_id, [])
                if not one.marker:
                    aborted.update(decided)
        return {
            one.key: offset
            for offset, one in entries
            if one.marker is None and offset not in aborted and offset >= start
        }

    def _check_producers(self) -> None:
        """Open a copy of the files without snapshots: the state must come out the same (L6)."""
        if self.log.log_start_offset > 0:
            return  # the head of the history is gone: a replay cannot know what a snapshot knows
        copy = SimDisk(0)
        copy.make_directory(DIRECTORY)
        for segment in self.log.segments:
            target = copy.open(f"{DIRECTORY}/{segment.path.rpartition('/')[2]}", create=True)
            target.write(0, [segment.file.read(0, segment.size)])
        again = Log.open(
            copy,
            DIRECTORY,
            self.settings,
            now_ms=self.now_ms,
            last_stop=LastStop(),
            draw_below=lambda _: 0,
        )
        again.update_high_watermark(again.log_end_offset)

        def said(log: Log) -> list[tuple[int, ...]]:
            unsure = self.model.cut_producers if self.compacted else ()
            return [
                (p.producer_id, p.epoch, p.last_sequence, p.last_offset)
                for p in log.producers
                if p.producer_id not in unsure
            ]

        self._demand(
            said(again) == said(self.log), f"L6 {said(self.log)}, a replay says {said(again)}"
        )
        self._demand(
            again.last_stable_offset == self.log.last_stable_offset,
            f"L6 last stable offset {self.log.last_stable_offset}, a replay says {again.last_stable_offset}",
        )

    # --- the rest --------------------------------------------------------------------------------

    def _append_data(self, *, producer: int, transactional: bool) -> None:
        count = 1 + self.entropy.below(4)
        sequence = self.model.sequences.get(producer, 0) if producer >= 0 else -1
        records = []
        appended = []
        for number in range(count):
            key = KEYS[self.entropy.below(len(KEYS))]
            value = (
                None
                if self.entropy.one_in(6)
                else self.entropy.bytes(self.entropy.below(40)).hex().encode()
            )
            records.append(Record(number, self.now_ms, key, value, ()))
            appended.append(
                Appended(key, value, producer, transactional=transactional, marker=None)
            )
        batch = encode_batch(
            records,
            compression=Compression(self.entropy.below(5)),
            producer_id=producer,
            producer_epoch=0 if producer >= 0 else -1,
            base_sequence=sequence,
            is_transactional=transactional,
        )
        self._append(batch, appended, from_client=True)
        if producer >= 0:
            self.model.sequences[producer] = sequence + count
            self.model.cut_producers.discard(producer)
        if transactional:
            self.model.in_transaction.add(producer)

    def _append(self, batch: bytearray, appended: list[Appended], *, from_client: bool) -> None:
        end = self.log.log_end_offset
        self.model.expect(end, appended)
        self.model.appended_ms.update((end + n, self.now_ms) for n in range(len(appended)))
        try:
            outcome = self.log.append(
                batch, leader_epoch=0, now_ms=self.now_ms, from_client=from_client
            )
        except OSError:
            for offset in range(end, end + len(appended)):
                self.model.versions[offset].pop()
            self._demand(self.log.log_end_offset == end, "a refused append moved the end")
            raise
        self._demand(isinstance(outcome, AppendInfo), f"refused: {outcome}")
        if not self.entropy.one_in(4):
            self.log.update_high_watermark(self.log.log_end_offset)

    def _open(self, last_stop: LastStop) -> Log:
        log = Log.open(
            self.disk,
            DIRECTORY,
            self.settings,
            now_ms=self.now_ms,
            last_stop=last_stop,
            draw_below=lambda _: 0,
        )
        log.update_high_watermark(log.log_end_offset)
        return log

    def _last_stop(self) -> LastStop:
        points = checkpoints.read_offsets(self.disk, f"{LOG_DIR}/{checkpoints.RECOVERY_POINTS}")
        starts = checkpoints.read_offsets(self.disk, f"{LOG_DIR}/{checkpoints.LOG_START_OFFSETS}")
        return LastStop(
            recovery_point=points.get(PARTITION, 0), log_start_offset=starts.get(PARTITION, 0)
        )

    def _write_checkpoints(self) -> None:
        starts = {PARTITION: self.log.log_start_offset}
        points = {PARTITION: self.log.recovery_point}
        checkpoints.write_offsets(self.disk, f"{LOG_DIR}/{checkpoints.LOG_START_OFFSETS}", starts)
        checkpoints.write_offsets(self.disk, f"{LOG_DIR}/{checkpoints.RECOVERY_POINTS}", points)

    def _stop_cleanly(self) -> None:
        end = self.log.log_end_offset
        self.disk.faults.capacity_bytes = None
        self.log.close(now_ms=self.now_ms)
        self._write_checkpoints()
        last_stop = self._last_stop()._replace(clean=True)
        self.disk = self.disk.crash()
        self.log = self._open(last_stop)
        self._demand(self.log.recovery.scanned_bytes == 0, "a clean stop was followed by a scan")
        self._demand(self.log.log_end_offset == end, "a clean stop lost records")
        self.model.flushed_end = max(self.model.flushed_end, end)

    def _learn_end(self, *, forget: bool = True) -> None:
        """After a loss: what is gone was never promised, and the clients know where they stand."""
        end = self.log.log_end_offset
        if forget:
            self._demand(
                end >= self.model.flushed_end,
                f"L1 flushed to {self.model.flushed_end}, found {end}",
            )
            self.model.forget_from(end)
        self.model.sequences = {
            producer.producer_id: (producer.last_sequence + 1) % (1 << 31)
            for producer in self.log.producers
            if producer.last_sequence >= 0
        }
        self.model.in_transaction = {
            producer.producer_id
            for producer in self.log.producers
            if producer.transaction_first_offset >= 0
        }

    def _break_something(self) -> str:
        """One file of the log, or its directory, gives input/output errors from now on."""
        names = self.disk.list(DIRECTORY)
        number = self.entropy.below(len(names) + 1)
        path = f"{DIRECTORY}/{names[number]}" if number < len(names) else DIRECTORY
        self.disk.faults.break_path(path)
        return path

    def _used_bytes(self) -> int:
        return sum(self.disk.stat(f"{DIRECTORY}/{name}").size for name in self.disk.list(DIRECTORY))

    def _demand(self, condition: bool, message: str) -> None:
        if not condition:
            raise LostPromiseError(message)
