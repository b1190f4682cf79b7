"""One partition's log on disk: append, read, cut, keep, flush; the small facade of this room's
heart.

A log is owned by one event loop. Nothing here waits, except where a verb says that it blocks.

The state and its invariants are in `log_state`; each verb is explained in the module it comes from:
append, lookup, rolling, truncation, retention, flush, replacement, loading, recovery.

Not here   which logs there are and their checkpoints (storage.log_dirs); who leads and how far the
           replicas are (replication); records inside batches (records).
See        docs/formats/segment.md, docs/formats/indexes.md
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.ports.disk import Bytes, Disk
from quire.records.batch import BatchHeader
from quire.storage import (
    append,
    flush,
    loading,
    lookup,
    replacement,
    retention,
    rolling,
    truncation,
)
from quire.storage.append import AppendInfo, Outcome
from quire.storage.file_slice import FileSlice
from quire.storage.leader_epochs import EpochEnd
from quire.storage.loading import LastStop
from quire.storage.log_state import DrawBelow, LogState
from quire.storage.lookup import OutOfRange, ReadResult, TimestampedOffset
from quire.storage.producer_state import ProducerStates
from quire.storage.recovery import Progress, RecoveryReport
from quire.storage.settings import LogSettings
from quire.storage.transaction_index import AbortedTransaction


class Log(LogState):
    """A log that is open."""

    __slots__ = ("recovery",)

    recovery: RecoveryReport
    """What opening it found."""

    @classmethod
    def open(
        cls,
        disk: Disk,
        directory: str,
        settings: LogSettings,
        *,
        now_ms: int,
        last_stop: LastStop,
        draw_below: DrawBelow,
        on_progress: Progress | None = None,
    ) -> Log:
        """Open the log of `directory`, which exists; an empty directory is an empty log. Blocks.

        `draw_below` is the door to chance for the jitter of rolls.
        """
        report = RecoveryReport()
        segments = loading.load_segments(
            disk,
            directory,
            settings,
            report,
            base_offset=last_stop.log_start_offset,
            now_ms=now_ms,
        )
        epochs, epochs_are_lost = loading.load_epochs(disk, directory, report)
        log = cls(
            disk,
            directory,
            settings,
            segments=segments,
            leader_epochs=epochs,
            producers=ProducerStates(
                disk, directory, expiration_ms=settings.producer_id_expiration_ms
            ),
            draw_below=draw_below,
        )
        log.recovery = report
        loading.bring_up(
            log,
            last_stop,
            report,
            epochs_are_lost=epochs_are_lost,
            now_ms=now_ms,
            on_progress=on_progress,
        )
        return log

    def append(
        self,
        buffer: bytearray | memoryview,
        *,
        header: BatchHeader | None = None,
        leader_epoch: int,
        now_ms: int,
        from_client: bool = True,
        requires_sequence_zero: bool = False,
    ) -> Outcome:
        """As the leader: give validated batches the next offsets and the epoch, in place; write
        them.

        A batch of an idempotent producer that is a duplicate or out of order is answered, not
        written. `header` is that of the one batch, when there is one and it was read before.
        """
        return append.append_as_leader(
            self,
            buffer,
            header=header,
            leader_epoch=leader_epoch,
            now_ms=now_ms,
            from_client=from_client,
            requires_sequence_zero=requires_sequence_zero,
        )

    def append_as_follower(self, buffer: Bytes, *, now_ms: int) -> AppendInfo | None:
        """Write fetched batches with the offsets and epochs they have; None when none is whole."""
        return append.append_as_follower(self, buffer, now_ms=now_ms)

    def read(
        self, offset: int, *, max_bytes: int, upper_bound_offset: int, min_one: bool = True
    ) -> ReadResult | OutOfRange:
        """The batches from the one that holds `offset` on, below the bound: a slice of a file."""
        return lookup.read(
            self,
            offset,
            max_bytes=max_bytes,
            upper_bound_offset=upper_bound_offset,
            min_one=min_one,
        )

    def offset_for_timestamp(self, timestamp: int) -> TimestampedOffset | None:
        """The first record at least as late as `timestamp`."""
        return lookup.offset_for_timestamp(self, timestamp)

    def end_offset_for_epoch(self, leader_epoch: int) -> EpochEnd:
        """The largest epoch known that is not above `leader_epoch`, and where it ends."""
        return self.leader_epochs.end_offset_for(leader_epoch, self.log_end_offset)

    def aborted_transactions(
        self, fetch_offset: int, upper_bound_offset: int, records: FileSlice | None = None
    ) -> list[AbortedTransaction]:
        """What a reader of committed data must know to skip, between the two offsets or in what was read."""
        return lookup.aborted_transactions(self, fetch_offset, upper_bound_offset, records)

    def update_high_watermark(self, high_watermark: int) -> int:
        """Move the high watermark, kept between the ends of the log; where it is now."""
        bounded = high_watermark
        if not self.log_start_offset <= high_watermark <= self.log_end_offset:
            bounded = min(max(high_watermark, self.log_start_offset), self.log_end_offset)
        self.high_watermark = bounded
        self.producers.on_high_watermark(bounded)
        return bounded

    def advance_log_start_offset(self, offset: int, *, now_ms: int) -> bool:
        """Serve nothing below `offset` any more; whole segments below it go."""
        return retention.advance_log_start_offset(self, offset, now_ms=now_ms)

    def truncate_to(self, offset: int, *, now_ms: int) -> bool:
        """Drop every batch that ends at or above `offset`."""
        return truncation.truncate_to(self, offset, now_ms=now_ms)

    def truncate_fully_and_start_at(self, offset: int, *, now_ms: int) -> None:
        """Drop everything; the next offset is `offset`."""
        truncation.truncate_fully_and_start_at(self, offset, now_ms=now_ms)

    def roll(self, *, now_ms: int) -> bool:
        """Seal the active segment and begin a new one; False when it is empty."""
        return rolling.roll(self, now_ms=now_ms)

    def flush(self, *, now_ms: int, up_to: int | None = None) -> None:
        """Make everything below `up_to` durable. Blocks; storage.flush has a way that does not."""
        flush.flush(self, now_ms=now_ms, up_to=up_to)

    def replace_segments(self, base_offsets: Sequence[int], *, now_ms: int) -> bool:
        """Put cleaned files in these segments' place; False when the log has moved on. Blocks."""
        return replacement.replace_segments(self, base_offsets, now_ms=now_ms)

    def close(self, *, now_ms: int) -> None:
        """A clean stop: everything durable, every file at its size, a snapshot beside. Blocks."""
        flush.close(self, now_ms=now_ms)
