"""Which log to clean next, and what is known of those that cannot be cleaned.

Holds the clean/dirty line of every compacted partition (persisted in `cleaner-offset-checkpoint` of the partition's
log directory), at most one cleaning per partition, and the figures that operators watch.

Invariants
  I1  The checkpoint moves only after every group of the cleaning was committed.
  I2  A partition whose cleaning failed is not tried again by this process until somebody forgives it.
  I3  Of the logs that are due, the one overdue by max.compaction.lag.ms comes first, then the dirtiest.
Not here   segments and batches (plan, rewrite), threads and processes (runtime.cleaner_pool).
See        KIP-354, docs/decisions/0007-cleaning-is-a-job.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from quire.errors import CorruptFileError
from quire.ports.disk import Disk
from quire.ports.entropy import Entropy
from quire.storage import checkpoints, offset_index, time_index
from quire.storage.cleaner.job import CleaningDone, CleaningJob, LastOfProducer
from quire.storage.cleaner.plan import Cleanable, LogFacts, SegmentFacts, cleanable
from quire.storage.log import Log
from quire.types import TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanerSettings:
    """The broker's `log.cleaner.*` settings, with Kafka's defaults."""

    threads: int = 1
    dedupe_buffer_bytes: int = 134_217_728
    io_buffer_bytes: int = 524_288
    io_max_bytes_per_second: float = float("inf")
    backoff_ms: int = 15_000


class CompactedLog(NamedTuple):
    """A partition whose log may be compacted, and the log directory that holds it."""

    topic_partition: TopicPartition
    log_dir: str
    log: Log


class Assignment(NamedTuple):
    """A job that was given out."""

    topic_partition: TopicPartition
    log_dir: str
    job: CleaningJob
    started_ms: int


class Uncleanable(NamedTuple):
    """Why a partition is left alone."""

    reason: str
    dirty_bytes: int


@dataclass(slots=True)
class CleanerFigures:
    """What Kafka's LogCleaner and LogCleanerManager metrics show."""

    max_dirty_percent: int = 0
    max_compaction_delay_secs: int = 0
    max_clean_time_secs: int = 0
    max_buffer_utilization_percent: int = 0
    cleaner_recopy_percent: int = 0
    time_of_last_run_ms: int = -1
    uncleanable_partitions_count: int = 0
    uncleanable_bytes: int = 0
    cleanings: int = 0


class CleanerSchedule:
    """Gives out cleanings and takes their results. One per node; every call on the log owner's thread."""

    def __init__(self, disk: Disk, settings: CleanerSettings, entropy: Entropy) -> None:
        self.settings = settings
        self.figures = CleanerFigures()
        self.uncleanable: dict[TopicPartition, Uncleanable] = {}
        self.discarded: list[CorruptFileError] = []
        """Checkpoints that could not be read: all logs of their directories count as dirty."""
        self._disk = disk
        self._entropy = entropy
        self._clean_until: dict[str, dict[TopicPartition, int]] = {}
        self._running: dict[TopicPartition, Assignment] = {}

    def next_assignment(self, logs: Iterable[CompactedLog], *, now_ms: int) -> Assignment | None:
        """The most urgent cleaning of all `logs`, or None when nothing is due (I3)."""
        due: list[tuple[int, float, CompactedLog, Cleanable, LogFacts]] = []
        dirtiest, delay_ms = 0.0, 0
        for candidate in logs:
            if not candidate.log.settings.cleanup_policy_compact:
                continue
            facts = facts_of(candidate.log)
            state = cleanable(
                facts, candidate.log.settings, self.clean_until(candidate), now_ms=now_ms
            )
            if candidate.topic_partition in self.uncleanable:
                self._note_uncleanable(candidate.topic_partition, state.cleanable_bytes)
                continue
            dirtiest = max(dirtiest, state.dirty_ratio)
            delay_ms = max(delay_ms, state.overdue_ms)
            if candidate.topic_partition in self._running or state.cleanable_bytes == 0:
                continue
            if (
                state.overdue_ms > 0
                or state.dirty_ratio > candidate.log.settings.min_cleanable_dirty_ratio
            ):
                due.append((state.overdue_ms, state.dirty_ratio, candidate, state, facts))
        self.figures.max_dirty_percent = int(100 * dirtiest)
        self.figures.max_compaction_delay_secs = delay_ms // 1000
        if not due:
            return None
        _, _, chosen, state, facts = max(due, key=lambda entry: (entry[0], entry[1]))
        return self._assign(chosen, state, facts, now_ms)

    def clean_until(self, candidate: CompactedLog) -> int | None:
        """The checkpointed first dirty offset; None for a log that was never cleaned."""
        return self._lines_of(candidate.log_dir).get(candidate.topic_partition)

    def finish(self, assignment: Assignment, done: CleaningDone, *, now_ms: int) -> None:
        """Every group is committed: move the clean/dirty line (I1)."""
        del self._running[assignment.topic_partition]
        lines = self._lines_of(assignment.log_dir)
        lines[assignment.topic_partition] = done.clean_until_offset
        self._save(assignment.log_dir)
        seconds = (now_ms - assignment.started_ms) // 1000
        figures = self.figures
        figures.cleanings += 1
        figures.time_of_last_run_ms = now_ms
        figures.max_clean_time_secs = max(figures.max_clean_time_secs, seconds)
        figures.max_buffer_utilization_percent = max(
            figures.max_buffer_utilization_percent, int(100 * done.map_utilization)
        )
        if done.bytes_before:
            figures.cleaner_recopy_percent = 100 * done.bytes_after // done.bytes_before

    def abandon(self, assignment: Assignment) -> None:
        """The log was truncated, moved or removed under the cleaning: nothing is recorded."""
        del self._running[assignment.topic_partition]

    def fail(self, assignment: Assignment, reason: str) -> None:
        """The data cannot be cleaned (a corrupt batch, say): leave the partition alone (I2)."""
        del self._running[assignment.topic_partition]
        dirty = sum(
            s.size
            for s in assignment.job.segments
            if s.end_offset > assignment.job.first_dirty_offset
        )
        self.uncleanable[assignment.topic_partition] = Uncleanable(reason, dirty)
        self._count_uncleanable()

    def forgive(self, topic_partition: TopicPartition) -> None:
        """Somebody mended the data: try again."""
        self.uncleanable.pop(topic_partition, None)
        self._count_uncleanable()

    def truncated(self, topic_partition: TopicPartition, log_dir: str, offset: int) -> None:
        """The log was cut to `offset`: what lies above it is not clean any more."""
        lines = self._lines_of(log_dir)
        if lines.get(topic_partition, 0) > offset:
            lines[topic_partition] = offset
            self._save(log_dir)

    def forget(self, topic_partition: TopicPartition, log_dir: str) -> None:
        """The partition is gone from this directory."""
        self.uncleanable.pop(topic_partition, None)
        self._count_uncleanable()
        if self._lines_of(log_dir).pop(topic_partition, None) is not None:
            self._save(log_dir)

    def _assign(
        self, chosen: CompactedLog, state: Cleanable, facts: LogFacts, now_ms: int
    ) -> Assignment:
        segments = tuple(s for s in facts.sealed if s.base_offset < state.first_uncleanable_offset)
        job = CleaningJob(
            directory=chosen.log.directory,
            segments=segments,
            first_dirty_offset=state.first_dirty_offset,
            end_offset=state.first_uncleanable_offset,
            settings=chosen.log.settings,
            now_ms=now_ms,
            # All of a segment's, also above the range: its index is written anew as a whole.
            aborted=tuple(
                aborted
                for segment in chosen.log.segments[: len(segments)]
                for aborted in segment.transaction_index
            ),
            last_of_producers=last_of_producers(chosen.log),
            map_bytes=self.settings.dedupe_buffer_bytes // max(1, self.settings.threads),
            buffer_bytes=self.settings.io_buffer_bytes,
            hash_key=self._entropy.bytes(16),
        )
        assignment = Assignment(chosen.topic_partition, chosen.log_dir, job, now_ms)
        self._running[chosen.topic_partition] = assignment
        return assignment

    def _lines_of(self, log_dir: str) -> dict[TopicPartition, int]:
        lines = self._clean_until.get(log_dir)
        if lines is None:
            path = f"{log_dir}/{checkpoints.CLEANER_OFFSETS}"
            try:
                lines = checkpoints.read_offsets(self._disk, path)
            except CorruptFileError as error:
                lines = {}
                self.discarded.append(error)
            self._clean_until[log_dir] = lines
        return lines

    def _save(self, log_dir: str) -> None:
        lines: Mapping[TopicPartition, int] = self._lines_of(log_dir)
        checkpoints.write_offsets(self._disk, f"{log_dir}/{checkpoints.CLEANER_OFFSETS}", lines)

    def _note_uncleanable(self, topic_partition: TopicPartition, dirty_bytes: int) -> None:
        reason = self.uncleanable[topic_partition].reason
        self.uncleanable[topic_partition] = Uncleanable(reason, dirty_bytes)
        self._count_uncleanable()

    def _count_uncleanable(self) -> None:
        self.figures.uncleanable_partitions_count = len(self.uncleanable)
        self.figures.uncleanable_bytes = sum(u.dirty_bytes for u in self.uncleanable.values())


def facts_of(log: Log) -> LogFacts:
    """Describe a log for planning."""
    ends = [segment.base_offset for segment in log.segments[1:]]
    sealed = tuple(
        SegmentFacts(
            base_offset=segment.base_offset,
            end_offset=end_offset,
            size=segment.size,
            offset_index_bytes=segment.offset_index.entries.count * offset_index.ENTRY.size,
            time_index_bytes=segment.time_index.entries.count * time_index.ENTRY.size,
            first_timestamp_ms=segment.first_batch_timestamp(),
            largest_timestamp_ms=segment.largest.timestamp,
        )
        for segment, end_offset in zip(log.segments[:-1], ends, strict=True)
    )
    return LogFacts(
        sealed,
        log_start_offset=log.log_start_offset,
        active_base_offset=log.segments[-1].base_offset,
        last_stable_offset=log.last_stable_offset,
        recovery_point=log.recovery_point,
    )


def last_of_producers(log: Log) -> dict[int, LastOfProducer]:
    """What the rewritten log must still show of each active producer."""
    return {
        producer_id: LastOfProducer(
            last_data_offset if last_data_offset >= 0 else None, producer_epoch
        )
        for producer_id, last_data_offset, producer_epoch in log.producers.last_records()
    }
