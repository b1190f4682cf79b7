"""One log directory: its lock, its identity, what it remembers of the last stop, its logs.

Invariants
  I1  The lock is held from `claim` to `release`: no other process writes here.
  I2  The clean-shutdown marker is removed, durably, before anything else is written; it is written
      again only by `promise_clean`, after every log was closed without an error.
  I3  Once `failure` is set nothing is read or written here again.
  I4  Checkpoints keep the rows of partitions that could not be opened.
Not here   which directory a partition goes to, and what all directories together are (log_dirs).
See        docs/formats/log-directory.md
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from quire.errors import CorruptFileError, StorageError
from quire.ports.disk import Disk, Lock
from quire.storage.checkpoints import (
    HIGH_WATERMARKS,
    LOG_START_OFFSETS,
    RECOVERY_POINTS,
    read_offsets,
    write_offsets,
)
from quire.storage.clean_shutdown import (
    CleanShutdown,
    read_clean_shutdown,
    remove_clean_shutdown,
    write_clean_shutdown,
)
from quire.storage.directory_names import METADATA_TOPIC, Stage, parse_directory_name
from quire.storage.loading import LastStop
from quire.storage.meta_properties import MetaProperties, read_meta_properties
from quire.storage.partition_metadata import read_topic_id
from quire.storage.small_files import make_directory
from quire.types import TopicPartition

LOCK = ".lock"
CHECKPOINTS = (RECOVERY_POINTS, LOG_START_OFFSETS, HIGH_WATERMARKS)


class OpenedLog(Protocol):
    """What log directories need of a log (storage.log has it all)."""

    log_start_offset: int
    recovery_point: int
    high_watermark: int
    failure: OSError | None

    def update_high_watermark(self, high_watermark: int) -> int: ...

    def close(self, *, now_ms: int) -> None: ...


class LogToOpen(NamedTuple):
    """A partition directory, and how far to trust it."""

    topic_partition: TopicPartition
    directory: str
    last_stop: LastStop


OpenLog = Callable[[LogToOpen], OpenedLog]


@dataclass(frozen=True, slots=True)
class HostedLog:
    """An open log and where it is. `topic_id` is None when partition.metadata is not there."""

    topic_partition: TopicPartition
    log_dir: LogDir
    directory: str
    topic_id: bytes | None
    log: OpenedLog


class CheckpointPlan(NamedTuple):
    """One checkpoint to write; `run` blocks and may be given to another thread."""

    log_dir: LogDir
    name: str
    offsets: Mapping[TopicPartition, int]

    def run(self) -> None:
        path = f"{self.log_dir.path}/{self.name}"
        write_offsets(self.log_dir.disk, path, self.offsets)
        self.log_dir.written[self.name] = self.offsets


class DirectoryContents(NamedTuple):
    """What stands in a log directory."""

    live: tuple[LogToOpen, ...]
    deleted: tuple[str, ...]
    others: tuple[str, ...]
    """Future copies, strays, and directories that are nobody's: left as they are."""


class LogDir:
    """See the module. `path` is absolute and stands for the directory everywhere."""

    def __init__(self, disk: Disk, path: str) -> None:
        self.disk = disk
        self.path = path
        self.failure: OSError | None = None
        self.meta: MetaProperties | None = None
        self.clean_shutdown: CleanShutdown | None = None
        self.logs: dict[TopicPartition, HostedLog] = {}
        self.futures: dict[TopicPartition, HostedLog] = {}
        """Copies of partitions that stand in another directory, on their way here."""
        self.broken: dict[TopicPartition, StorageError] = {}
        """Partitions whose files cannot be used, and why."""
        self.discarded: list[CorruptFileError] = []
        """Checkpoints that could not be read, and count as never written."""
        self.is_loaded = False
        self.written: dict[str, Mapping[TopicPartition, int]] = {}
        """What stands in each checkpoint now."""
        self._checkpoints: dict[str, dict[TopicPartition, int]] = {}
        self._lock: Lock | None = None

    def __repr__(self) -> str:
        return f"LogDir({self.path!r})"

    def claim(self) -> None:
        """Make the directory if need be, lock it, and read who it belongs to. Writes no more."""
        make_directory(self.disk, self.path)
        try:
            self._lock = self.disk.lock(f"{self.path}/{LOCK}")
        except BlockingIOError:
            raise StorageError(f"{self.path} is in use by another process") from None
        self.meta = read_meta_properties(self.disk, self.path)

    def begin(self) -> None:
        """Read what the last process left, and take back its promise (I2)."""
        self.clean_shutdown = read_clean_shutdown(self.disk, self.path)
        remove_clean_shutdown(self.disk, self.path)
        for name in CHECKPOINTS:
            try:
                self._checkpoints[name] = read_offsets(self.disk, f"{self.path}/{name}")
            except CorruptFileError as error:
                self._checkpoints[name] = {}
                self.discarded.append(error)
            self.written[name] = self._checkpoints[name]

    def contents(self) -> DirectoryContents:
        """The partition directories, sorted by name."""
        live: list[LogToOpen] = []
        deleted: list[str] = []
        others: list[str] = []
        for name in self.disk.list(self.path):
            path = f"{self.path}/{name}"
            parsed = parse_directory_name(name)
            if parsed is not None and parsed.topic_partition.topic == METADATA_TOPIC:
                continue
            if not self.disk.stat(path).is_directory:
                continue
            if parsed is None or parsed.stage in {Stage.FUTURE, Stage.STRAY}:
                others.append(path)
            elif parsed.stage is Stage.DELETE:
                deleted.append(path)
            else:
                last_stop = self.last_stop(parsed.topic_partition)
                live.append(LogToOpen(parsed.topic_partition, path, last_stop))
        return DirectoryContents(tuple(live), tuple(deleted), tuple(others))

    def last_stop(self, topic_partition: TopicPartition) -> LastStop:
        """What is remembered of one log."""
        return LastStop(
            clean=self.clean_shutdown is not None,
            recovery_point=self._remembered(RECOVERY_POINTS, topic_partition),
            log_start_offset=self._remembered(LOG_START_OFFSETS, topic_partition),
        )

    def open_log(self, to_open: LogToOpen, open_log: OpenLog) -> HostedLog:
        """Open one log. Touches nothing else here, so several may be opened at once."""
        topic_id = read_topic_id(self.disk, to_open.directory)
        log = open_log(to_open)
        log.update_high_watermark(self._remembered(HIGH_WATERMARKS, to_open.topic_partition))
        return HostedLog(to_open.topic_partition, self, to_open.directory, topic_id, log)

    def checkpoint(self, name: str) -> CheckpointPlan:
        """The offsets to remember now; nothing is written until the plan is run."""
        kept = self._checkpoints.get(name, {})
        offsets = {key: offset for key, offset in kept.items() if key in self.broken}
        for key, hosted in (*self.futures.items(), *self.logs.items()):
            offset = _offset_to_remember(hosted.log, name)
            if offset is not None:
                offsets[key] = offset
        return CheckpointPlan(self, name, offsets)

    def lower_recovery_points(self) -> None:
        """Take back what a log that ends below its remembered recovery point was thought to have.

        What is appended there now would be believed to be durable after the next crash.
        """
        written = self.written.get(RECOVERY_POINTS, {})
        if any(each.log.recovery_point < written.get(key, 0) for key, each in self.logs.items()):
            self.checkpoint(RECOVERY_POINTS).run()

    def forget(self, topic_partition: TopicPartition) -> None:
        """Take the rows of a partition that is gone out of the checkpoints, before one of the same
        name is made: its first records would be believed durable, or deleted, after a crash.
        """
        for name in CHECKPOINTS:
            if topic_partition in self.written.get(name, {}):
                self.checkpoint(name).run()

    def fail(self, error: OSError) -> list[TopicPartition]:
        """Take the directory and its logs offline (I3); the partitions that were on it."""
        if self.failure is None:
            self.failure = error
        lost = sorted(self.logs)
        for hosted in (*self.logs.values(), *self.futures.values()):
            hosted.log.failure = hosted.log.failure or error
        self.logs.clear()
        self.futures.clear()
        return lost

    @property
    def is_whole(self) -> bool:
        """Once every log is closed: whether nothing in the directory will need repair."""
        logs = self.logs.values()
        return self.is_loaded and not self.broken and all(one.log.failure is None for one in logs)

    def promise_clean(self, broker_epoch: int) -> None:
        """The last write of a process (I2)."""
        write_clean_shutdown(self.disk, self.path, broker_epoch)

    def release(self) -> None:
        """Let another process in."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _remembered(self, name: str, topic_partition: TopicPartition) -> int:
        return self._checkpoints.get(name, {}).get(topic_partition, 0)


def _offset_to_remember(log: OpenedLog, name: str) -> int | None:
    if name == RECOVERY_POINTS:
        return log.recovery_point
    if name == HIGH_WATERMARKS:
        return log.high_watermark
    return log.log_start_offset or None
