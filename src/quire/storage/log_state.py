"""What one log is at a moment: its segments, its offsets, and the small states beside them.

The verbs live in one module each (append, lookup, truncation, retention, recovery, flush) and take
this state; `storage.log.Log` is this state with the verbs attached.

Invariants
  I1  log_start_offset <= high_watermark <= log_end_offset, recovery_point <= log_end_offset.
  I2  log_end_offset is the offset after the last batch, or the base of an empty active segment.
  I3  Once `failure` is set nothing is read or written through this log again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from quire.errors import StorageError
from quire.ports.disk import Disk
from quire.storage.deletion import Deletions
from quire.storage.file_names import SegmentPlace
from quire.storage.leader_epochs import LeaderEpochs
from quire.storage.producer_state import ProducerStates
from quire.storage.segment import Segment
from quire.storage.segments import Segments
from quire.storage.settings import LogSettings

DrawBelow = Callable[[int], int]
"""Gives a random whole number in [0, limit): `Entropy.below` of the ports."""


class LogOfflineError(StorageError):
    """The log's disk failed before; nothing is served from it until it is opened anew."""


class LogState:
    """The fields of a log. Everything that is not underlined may be read by anybody."""

    __slots__ = (
        "deletions",
        "directory",
        "directory_is_dirty",
        "disk",
        "draw_below",
        "failure",
        "flush_is_under_way",
        "high_watermark",
        "last_flush_ms",
        "leader_epochs",
        "log_end_offset",
        "log_start_offset",
        "producers",
        "recovery_point",
        "roll_jitter_ms",
        "sealed_since_flush",
        "segments",
        "settings",
        "truncations",
    )

    def __init__(
        self,
        disk: Disk,
        directory: str,
        settings: LogSettings,
        *,
        segments: Segments,
        leader_epochs: LeaderEpochs,
        producers: ProducerStates,
        draw_below: DrawBelow,
    ) -> None:
        self.disk = disk
        self.directory = directory
        self.settings = settings
        self.segments = segments
        self.leader_epochs = leader_epochs
        self.producers = producers
        self.draw_below = draw_below
        self.deletions = Deletions(disk)
        self.failure: OSError | None = None
        self.flush_is_under_way = False
        """Another thread may be writing the epoch history: nobody else may (storage.flush I4)."""
        self.log_start_offset = segments[0].base_offset
        self.log_end_offset = segments.active.base_offset
        self.high_watermark = self.log_start_offset
        self.recovery_point = self.log_start_offset
        self.directory_is_dirty = True
        self.last_flush_ms = 0
        self.roll_jitter_ms = 0
        self.truncations = 0
        self.sealed_since_flush = False
        self.draw_roll_jitter()

    @property
    def last_stable_offset(self) -> int:
        """The first offset of an undecided transaction, between log start and high watermark."""
        first_unstable = self.producers.first_unstable_offset
        if first_unstable is None:
            return self.high_watermark
        return min(max(first_unstable, self.log_start_offset), self.high_watermark)

    def fail_if_offline(self) -> None:
        if self.failure is not None:
            raise LogOfflineError(f"{self.directory} is offline: {self.failure}")

    @contextmanager
    def offline_on_error(self) -> Iterator[None]:
        """For what must not stay half done: an OSError inside takes the log offline (I3)."""
        try:
            yield
        except OSError as error:
            self.failure = error
            raise

    def check(self) -> None:
        """Assert the invariants."""
        assert self.log_start_offset <= self.high_watermark <= self.log_end_offset  # I1
        assert self.recovery_point <= self.log_end_offset  # I1
        assert self.log_end_offset >= self.segments.active.base_offset  # I2
        assert self.last_stable_offset <= self.high_watermark

    def configure(self, settings: LogSettings) -> None:
        """Be kept by these settings from now on; sealed segments have no use for them."""
        if settings != self.settings:
            self.settings = settings
            self.segments.active.settings = settings
            self.producers.expiration_ms = settings.producer_id_expiration_ms

    def place_of(self, base_offset: int, suffix: str = "") -> SegmentPlace:
        return SegmentPlace(self.disk, self.directory, base_offset, suffix)

    def add_segment(self, base_offset: int, now_ms: int) -> Segment:
        """A new active segment."""
        self.directory_is_dirty = True
        segment = Segment.create(self.place_of(base_offset), self.settings, now_ms=now_ms)
        self.segments.add(segment)
        self.draw_roll_jitter()
        return segment

    def restart_at(self, base_offset: int, now_ms: int) -> None:
        """Replace all segments, whose files are renamed already, by a new one.

        Its name is made durable at once: were it lost and its successor kept, recovery could not
        tell this from a log whose beginning was removed by retention.
        """
        place = self.place_of(base_offset)
        self.segments.replace_all([Segment.create(place, self.settings, now_ms=now_ms)])
        self.disk.flush_directory(self.directory)
        self.draw_roll_jitter()

    def draw_roll_jitter(self) -> None:
        """Each segment rolls a little before its time, so that not all logs roll at once."""
        limit = min(self.settings.segment_jitter_ms, self.settings.most_segment_ms)
        self.roll_jitter_ms = self.draw_below(limit) if limit > 0 else 0

    def remove_segments(self, segments: list[Segment], *, now_ms: int) -> None:
        """Rename the files of segments that are no longer in the list, and their snapshots."""
        due_ms = now_ms + self.settings.file_delete_delay_ms
        self.deletions.add_segments(self.directory, segments, not_before_ms=due_ms)
        self.directory_is_dirty = True
