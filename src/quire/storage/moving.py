"""A partition on its way to another log directory of this broker: a copy that comes after it, and the exchange.

    begin      an empty log in a directory of its own kind (`-future`), from where the partition begins
    step       takes over what the partition has and the copy has not
    exchange   the copy is the partition from now on
    set_aside  the old directory is not

Invariants
  I1  Nothing is served from a copy before the exchange.
  I2  The copy is durable, and what the checkpoints remember of it too, before any name changes; it has its live name
      before the old directory loses it. A crash in between leaves two whole directories, of which the one that the
      metadata names is taken (log_dirs.load).
  I3  A copy follows a log that is cut by beginning again.
Not here   when, and how fast (broker.moves); what the controller is told (node.reports).
See        KIP-113, KIP-858
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from quire.records.batch import read_header
from quire.storage.directory_names import Stage, staged_name
from quire.storage.file_slice import FileSlice
from quire.storage.loading import LastStop
from quire.storage.log import Log
from quire.storage.log_dir import HostedLog, LogDir, LogToOpen, OpenLog
from quire.storage.lookup import ReadResult
from quire.storage.partition_metadata import write_topic_id

STEP_BYTES = 1 << 20
_HEADER_SIZE = 61


class OriginError(Exception):
    """The disk did not let us read what is to be copied."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


class Copy:
    """See the module. Made on the loop; `open`, `take` and `exchange` block and may run anywhere."""

    def __init__(self, original: HostedLog, to: LogDir, *, unique: bytes) -> None:
        self.original = original
        self.to = to
        self.directory = f"{to.path}/{staged_name(original.topic_partition, Stage.FUTURE, unique)}"
        self.source = _log_of(original)
        self._truncations = self.source.truncations
        self.log: Log | None = None

    def open(self, open_log: OpenLog) -> HostedLog:
        """Make the directory, with an empty log."""
        start = _first_offset(self.source)
        disk, key = self.to.disk, self.original.topic_partition
        disk.make_directory(self.directory)
        if self.original.topic_id is not None:
            write_topic_id(disk, self.directory, self.original.topic_id)
        disk.flush_directory(self.to.path)
        last_stop = LastStop(clean=True, log_start_offset=start)
        hosted = HostedLog(
            key, self.to, self.directory, self.original.topic_id,
            open_log(LogToOpen(key, self.directory, last_stop)),
        )  # fmt: skip
        self.log = _log_of(hosted)
        return hosted

    @property
    def has_everything(self) -> bool:
        """Whether the copy ends where the partition ends."""
        return (
            self.log is not None
            and self.log.log_end_offset == self.source.log_end_offset
            and self._truncations == self.source.truncations
        )

    def next(self, *, now_ms: int) -> FileSlice | None:
        """What to take over next; None when nothing is left. On the loop."""
        log, source = self._opened(), self.source
        if (
            self._truncations != source.truncations  # I3
            or log.log_end_offset < source.log_start_offset
        ):
            self._truncations = source.truncations
            log.truncate_fully_and_start_at(_first_offset(source), now_ms=now_ms)
        offset = max(log.log_end_offset, source.log_start_offset)
        with _origin():
            found = source.read(
                offset, max_bytes=STEP_BYTES, upper_bound_offset=source.log_end_offset
            )
        return found.records if isinstance(found, ReadResult) and found.records.size else None

    def take(self, piece: FileSlice, *, now_ms: int) -> None:
        """Append it to the copy."""
        with _origin():
            batches = piece.read()
        self._opened().append_as_follower(batches, now_ms=now_ms)

    def settle(self, *, now_ms: int) -> None:
        """Everything is there: make it durable, and begin where the partition begins."""
        log = self._opened()
        log.update_high_watermark(self.source.high_watermark)
        if self.source.log_start_offset > log.log_start_offset:
            log.advance_log_start_offset(self.source.log_start_offset, now_ms=now_ms)
        log.close(now_ms=now_ms)

    def exchange(self, open_log: OpenLog) -> HostedLog:
        """The copy, which is settled and in the checkpoints (I2), gets its live name; `set_aside` comes next."""
        disk, key = self.to.disk, self.original.topic_partition
        closed = self._opened()
        live = f"{self.to.path}/{key}"
        disk.rename(self.directory, live)
        disk.flush_directory(self.to.path)
        last_stop = LastStop(
            clean=True,
            recovery_point=closed.recovery_point,
            log_start_offset=closed.log_start_offset,
        )
        hosted = HostedLog(
            key, self.to, live, self.original.topic_id, open_log(LogToOpen(key, live, last_stop))
        )
        hosted.log.update_high_watermark(closed.high_watermark)
        return hosted

    def set_aside(self, path: str) -> None:
        """The old directory has another name from now on."""
        original = self.original
        original.log_dir.disk.rename(original.directory, path)
        original.log_dir.disk.flush_directory(original.log_dir.path)

    def _opened(self) -> Log:
        assert self.log is not None
        return self.log


@contextmanager
def _origin() -> Iterator[None]:
    """An OSError inside is the original's."""
    try:
        yield
    except OSError as error:
        raise OriginError(error) from error


def _log_of(hosted: HostedLog) -> Log:
    assert isinstance(hosted.log, Log)
    return hosted.log


def _first_offset(log: Log) -> int:
    """Where a copy has to begin: at the batch that holds the first offset that is served."""
    start = log.log_start_offset
    with _origin():
        found = log.read(start, max_bytes=_HEADER_SIZE, upper_bound_offset=log.log_end_offset)
        if not isinstance(found, ReadResult) or not found.records.size:
            return start
        header = found.records.file.read(found.records.position, _HEADER_SIZE)
    return min(start, read_header(header, 0).base_offset)
