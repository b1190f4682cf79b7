"""Truncation: a follower gives up what its leader does not have.

Invariants
  I1  The log ends at a batch boundary at or below the offset asked for; when that offset lies
      inside a batch, the whole batch goes and is fetched again.
  I2  Producer state and epoch history afterwards are those of a log that never had the rest.
  I3  What was dropped is gone for good: cut and removed durably before anything is appended. A crash that
      brought it back would put it behind batches of a newer leader.
Not here   how far to truncate (the replication rooms decide by KIP-101 and KIP-595).
"""

from __future__ import annotations

from quire.storage import replay
from quire.storage.log_state import LogState


def truncate_to(log: LogState, offset: int, *, now_ms: int) -> bool:
    """Drop every batch that ends at or above `offset`; False when there is none. Blocks.

    On OSError the log is offline: only opening it anew tells what is left.
    The caller checkpoints the recovery point before anything is appended: one left above the new
    end would hide what comes after it from recovery.
    """
    log.fail_if_offline()
    if offset >= log.log_end_offset:
        return False
    if offset < log.segments[0].base_offset:
        truncate_fully_and_start_at(log, offset, now_ms=now_ms)
        return True
    with log.offline_on_error():
        _truncate(log, offset, now_ms=now_ms)
    return True


def truncate_fully_and_start_at(log: LogState, offset: int, *, now_ms: int) -> None:
    """Drop everything; the log is empty and its next offset is `offset`. Blocks."""
    log.fail_if_offline()
    with log.offline_on_error():
        log.remove_segments(list(log.segments), now_ms=now_ms)
        log.restart_at(offset, now_ms)
    log.log_start_offset = offset
    _end_at(log, offset)
    log.high_watermark = log.recovery_point = offset
    log.leader_epochs.clear()
    log.producers.clear(offset)


def _truncate(log: LogState, offset: int, *, now_ms: int) -> None:
    number = log.segments.index_for(offset)
    removed = log.segments[number + 1 :]
    log.segments.replace_all(log.segments[: number + 1])
    for segment in reversed(removed):  # from the end: a crash on the way leaves no gap
        log.remove_segments([segment], now_ms=now_ms)
    active = log.segments.active
    found = active.find(offset)
    if found is None:
        active.resume()
    else:
        active.cut(found[0], offset)
        active.file.flush()
        offset = min(offset, found[1].base_offset)
    _end_at(log, offset)
    log.log_start_offset = min(log.log_start_offset, offset)
    log.leader_epochs.truncate_from_end(offset)
    replay.restore_producers(log, end_offset=offset, now_ms=now_ms)


def _end_at(log: LogState, offset: int) -> None:
    log.truncations += 1
    log.log_end_offset = offset
    log.high_watermark = min(log.high_watermark, offset)
    log.recovery_point = min(log.recovery_point, offset)
