"""What one cleaning of one log may touch, and in which portions: arithmetic on facts about segments, no I/O.

A compacted log has a clean head (every key once) and a dirty tail. The clean/dirty line is the checkpointed first
dirty offset; the tail ends where nothing may be touched yet.

Invariants
  I1  Nothing at or above the first uncleanable offset is read into the offset map or rewritten: the active segment,
      undecided transactions, records younger than min.compaction.lag.ms, and what is not flushed yet (else a crash
      could take the new value of a key after its old one was compacted away).
  I2  A group is a run of neighbouring segments; merged, it exceeds neither segment.bytes, nor an index's room, nor
      the 2^31-1 offsets that a relative offset can span.
  I3  The clean head is never longer than what was checkpointed; a checkpoint that contradicts the log is distrusted
      and the whole log is dirty again.
Not here   reading or writing batches (rewrite), choosing between logs (schedule).
See        docs/decisions/0007-cleaning-is-a-job.md, KIP-58, KIP-354.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from quire.storage.settings import LogSettings

MAX_OFFSET_SPAN = 2**31 - 1


class SegmentFacts(NamedTuple):
    """What planning needs to know of one segment; `end_offset` is the next segment's base offset."""

    base_offset: int
    end_offset: int
    size: int
    offset_index_bytes: int
    time_index_bytes: int
    first_timestamp_ms: int
    largest_timestamp_ms: int


class LogFacts(NamedTuple):
    """One log as the cleaner sees it: sealed segments oldest first, the active one left out."""

    sealed: tuple[SegmentFacts, ...]
    log_start_offset: int
    active_base_offset: int
    last_stable_offset: int
    recovery_point: int


class Cleanable(NamedTuple):
    """The dirty range of a log and how dirty it is."""

    first_dirty_offset: int
    first_uncleanable_offset: int
    clean_bytes: int
    cleanable_bytes: int
    overdue_ms: int
    """How long the oldest dirty record has waited beyond max.compaction.lag.ms; 0 when it has not."""
    checkpoint_distrusted: bool

    @property
    def dirty_ratio(self) -> float:
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total if total else 0.0


def first_dirty(facts: LogFacts, checkpointed: int | None) -> tuple[int, bool]:
    """Where the dirty tail starts, and whether a checkpoint had to be distrusted (I3)."""
    start = facts.sealed[0].base_offset if facts.sealed else facts.active_base_offset
    start = max(start, facts.log_start_offset)
    if checkpointed is None:
        return start, False
    if checkpointed > facts.active_base_offset:
        return start, True
    return max(checkpointed, start), False


def first_uncleanable(facts: LogFacts, settings: LogSettings, now_ms: int) -> int:
    """The first offset that no cleaning may touch yet (I1)."""
    limit = min(facts.active_base_offset, facts.last_stable_offset, facts.recovery_point)
    if settings.min_compaction_lag_ms > 0:
        youngest_allowed_ms = now_ms - settings.min_compaction_lag_ms
        for segment in facts.sealed:
            if segment.largest_timestamp_ms > youngest_allowed_ms:
                return min(limit, segment.base_offset)
    return limit


def cleanable(
    facts: LogFacts, settings: LogSettings, checkpointed: int | None, *, now_ms: int
) -> Cleanable:
    """Measure the dirty range of a log. Whole segments count: a segment is cleaned or it is not."""
    dirty_from, distrusted = first_dirty(facts, checkpointed)
    dirty_until = max(first_uncleanable(facts, settings, now_ms), dirty_from)
    clean_bytes = sum(s.size for s in facts.sealed if s.end_offset <= dirty_from)
    dirty = [s for s in facts.sealed if s.end_offset > dirty_from and s.base_offset < dirty_until]
    waiting_ms = [
        now_ms - s.first_timestamp_ms - settings.max_compaction_lag_ms
        for s in dirty
        if s.first_timestamp_ms >= 0
    ]
    return Cleanable(
        first_dirty_offset=dirty_from,
        first_uncleanable_offset=dirty_until,
        clean_bytes=clean_bytes,
        cleanable_bytes=sum(s.size for s in dirty),
        overdue_ms=max(0, *waiting_ms) if waiting_ms else 0,
        checkpoint_distrusted=distrusted,
    )


def groups(
    segments: Sequence[SegmentFacts], settings: LogSettings
) -> list[tuple[SegmentFacts, ...]]:
    """Portion neighbouring segments so that each group fits into one segment (I2)."""
    found: list[tuple[SegmentFacts, ...]] = []
    current: list[SegmentFacts] = []
    for segment in segments:
        if current and not _fits([*current, segment], settings):
            found.append(tuple(current))
            current = []
        current.append(segment)
    if current:
        found.append(tuple(current))
    return found


def _fits(run: Sequence[SegmentFacts], settings: LogSettings) -> bool:
    return (
        sum(s.size for s in run) <= settings.segment_bytes
        and sum(s.offset_index_bytes for s in run) <= settings.segment_index_bytes
        and sum(s.time_index_bytes for s in run) <= settings.segment_index_bytes
        and run[-1].end_offset - 1 - run[0].base_offset <= MAX_OFFSET_SPAN
    )
