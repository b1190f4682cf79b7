"""Retention: which segments at the old end of a log may go, by age, by size, by the log start
offset.

Invariants
  I1  Only a prefix of the log goes, and nothing at or above the high watermark.
  I2  The active segment goes only after it was rolled, and an empty one never does.
  I3  Without the policy `delete` only what lies below the log start offset goes.
  I4  Before a segment goes, the epoch history that starts behind it is durable. A crash may bring any of
      the removed files back; loading knows by this that a gap behind them is no loss.
Not here   compaction (storage.cleaner), unlinking (storage.deletion).
See        KIP-107 (delete records)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from quire.storage.log_state import LogState
from quire.storage.producer_snapshot import remove_snapshots_before
from quire.storage.rolling import roll
from quire.storage.segment import Segment

IsExpired: TypeAlias = Callable[[Segment, int], bool]
"""Told a segment and the offset where it ends."""


class Removed(NamedTuple):
    """What one pass took away, in segments by reason, and in bytes."""

    by_time: int
    by_size: int
    by_log_start: int
    bytes: int


def enforce(log: LogState, *, now_ms: int) -> Removed:
    """Remove what the settings no longer keep. Blocks where something goes."""
    log.fail_if_offline()
    settings = log.settings
    before = log.segments.total_bytes()
    by_time = by_size = 0
    if settings.cleanup_policy_delete:
        if settings.retention_ms >= 0:
            horizon_ms = now_ms - settings.retention_ms
            by_time = _remove_prefix(
                log, lambda segment, _: _newest_ms(segment) < horizon_ms, now_ms
            )
        if settings.retention_bytes >= 0:
            by_size = _remove_prefix(log, _oversize(log), now_ms)
    by_log_start = remove_below_log_start(log, now_ms=now_ms)
    return Removed(by_time, by_size, by_log_start, before - log.segments.total_bytes())


def remove_below_log_start(log: LogState, *, now_ms: int) -> int:
    """Remove the segments that end at or below the log start offset; how many."""
    return _remove_prefix(log, lambda _, end_offset: end_offset <= log.log_start_offset, now_ms)


def advance_log_start_offset(log: LogState, offset: int, *, now_ms: int) -> bool:
    """Make `offset` the first one that is served; False when it is that or more already.

    The caller checkpoints it. Above the high watermark is a ValueError: the answer to the client is
    OFFSET_OUT_OF_RANGE, which its handler finds before it comes here.
    """
    log.fail_if_offline()
    if offset > log.high_watermark:
        raise ValueError(f"{offset} is above the high watermark {log.high_watermark}")
    if offset <= log.log_start_offset:
        return False
    _start_at(log, offset)
    remove_below_log_start(log, now_ms=now_ms)
    return True


def _remove_prefix(log: LogState, is_expired: IsExpired, now_ms: int) -> int:
    """Remove segments from the oldest on, up to the first that is not expired or not committed.

    While a flush is under way nothing goes: the next pass finds it again (flush I4).
    """
    if log.flush_is_under_way:
        return 0
    count = 0
    for number, segment in enumerate(log.segments):
        end_offset = log.segments.end_offset(number, log.log_end_offset)
        is_empty_active = segment is log.segments.active and not segment.size
        if (
            is_empty_active
            or end_offset > log.high_watermark
            or not is_expired(segment, end_offset)
        ):
            break
        count += 1
    if not count:
        return 0
    if count == len(log.segments):
        roll(log, now_ms=now_ms)
    removed, kept = log.segments[:count], log.segments[count:]
    _start_at(log, max(log.log_start_offset, kept[0].base_offset))
    log.leader_epochs.save()  # I4; where it fails the segments are still there for the next pass
    log.segments.replace_all(kept)
    with log.offline_on_error():
        log.remove_segments(removed, now_ms=now_ms)
        remove_snapshots_before(log.disk, log.directory, kept[0].base_offset)
    return count


def _start_at(log: LogState, offset: int) -> None:
    log.log_start_offset = offset
    log.high_watermark = max(log.high_watermark, offset)
    log.recovery_point = max(log.recovery_point, offset)
    log.leader_epochs.truncate_from_start(offset)
    log.producers.on_log_start_offset(offset)


def _oversize(log: LogState) -> IsExpired:
    surplus = log.segments.total_bytes() - log.settings.retention_bytes

    def is_expired(segment: Segment, _: int) -> bool:
        nonlocal surplus
        surplus -= segment.size
        return surplus >= 0

    return is_expired


def _newest_ms(segment: Segment) -> int:
    """The largest timestamp of its records; without any, when its file changed last."""
    if segment.largest.timestamp >= 0:
        return segment.largest.timestamp
    return segment.place.disk.stat(segment.path).modified_ms
