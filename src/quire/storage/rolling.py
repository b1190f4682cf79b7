"""Rolling: when the active segment is closed for good, and how the next one begins.

Invariants
  I1  A sealed segment carries its largest timestamp as the last entry of its time index, and a
      producer snapshot stands at the base offset of the segment that follows it.
  I2  A new segment starts at the log end offset, or at the first offset of a follower's append
      above it.
Not here   flushing what was sealed (storage.flush): the caller does that off the loop.
"""

from __future__ import annotations

from quire.storage.log_state import LogState
from quire.storage.segment import MAX_RELATIVE_OFFSET


def must_roll(log: LogState, size: int, max_timestamp: int, last_offset: int, now_ms: int) -> bool:
    """Whether `size` bytes that end at `last_offset` may not join the active segment."""
    segment = log.segments.active
    if last_offset - segment.base_offset > MAX_RELATIVE_OFFSET:
        return True
    if not segment.size:
        return False
    settings = log.settings
    if segment.size > settings.segment_bytes - size or segment.index_is_full:
        return True
    first_timestamp = segment.first_batch_timestamp()
    has_timestamp = first_timestamp >= 0
    age_ms = max_timestamp - first_timestamp if has_timestamp else now_ms - segment.created_ms
    return age_ms > settings.most_segment_ms - log.roll_jitter_ms


def roll(log: LogState, *, now_ms: int, base_offset: int | None = None) -> bool:
    """Seal the active segment and begin a new one; False when the active one is new already."""
    log.fail_if_offline()
    base_offset = max(log.log_end_offset, base_offset or 0)
    active = log.segments.active
    if base_offset == active.base_offset:
        return False
    active.seal()
    log.sealed_since_flush = True
    log.producers.end_offset = base_offset
    log.producers.take_snapshot(flush=False)
    log.add_segment(base_offset, now_ms)
    return True
