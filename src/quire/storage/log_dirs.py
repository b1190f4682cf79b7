"""All log directories of a broker: which logs there are, where a new one goes, how they stop.

Invariants
  I1  A partition is live in at most one directory.
  I2  An OSError takes its directory offline, alone; when none is left that is a StorageError.
  I3  A log that cannot be opened is a broken partition, named with its reason; the others go on.
  I4  A stop is, in this order: logs closed (flushed), checkpoints, the clean-shutdown marker, lock.
      The marker is left out wherever a log is broken, failed, or was never opened.
  I5  A removed partition is renamed first and removed later: it is gone at once, its files go when
      nobody waits for it; what a crash left over is removed after the next start.
Not here   one directory (log_dir), one log (log), the metadata log (the quorum's own: closed
           before `close`), when to write checkpoints (the owner's timer).
See        docs/formats/log-directory.md, KIP-112, KIP-858
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from quire.errors import StorageError
from quire.ports.disk import Disk
from quire.ports.entropy import Entropy
from quire.storage.checkpoints import HIGH_WATERMARKS, LOG_START_OFFSETS, RECOVERY_POINTS
from quire.storage.directory_names import Stage, is_topic_name, staged_name
from quire.storage.loading import LastStop
from quire.storage.log_dir import (
    CHECKPOINTS,
    CheckpointPlan,
    HostedLog,
    LogDir,
    LogToOpen,
    OpenLog,
)
from quire.storage.meta_properties import Identity, agree, new_uuid, write_meta_properties
from quire.storage.partition_metadata import write_topic_id
from quire.storage.small_files import parent_of
from quire.types import TopicPartition, uuid_to_text

_UNIQUE_SIZE = 16


class Loaded(NamedTuple):
    """What came of opening one log."""

    log_dir: LogDir
    to_open: LogToOpen
    outcome: HostedLog | StorageError | OSError


Item = TypeVar("Item")
Result = TypeVar("Result")


class RunEach(Protocol):
    """Calls the function for every item and gives the results as they come; items of one group (one directory)
    share that directory's threads.
    """

    def __call__(
        self, function: Callable[[Item], Result], groups: Sequence[Sequence[Item]], /
    ) -> Iterable[Result]: ...


FindHome: TypeAlias = Callable[[TopicPartition], bytes | None]
"""The id of the directory that the metadata names for a partition of this broker."""
OnProgress: TypeAlias = Callable[[int, int, str], None]
"""Told (done, total, name of the partition)."""


def run_in_turn(
    function: Callable[[Item], Result], groups: Sequence[Sequence[Item]], /
) -> Iterator[Result]:
    """One after the other, on the caller's thread."""
    for group in groups:
        yield from map(function, group)


class LogDirs:
    """See the module. Made by `open`, filled by `load`, left by `close`."""

    def __init__(self, disk: Disk, log_dirs: Sequence[LogDir], identity: Identity) -> None:
        self.disk = disk
        self.log_dirs = tuple(log_dirs)
        self.identity = identity
        self.others: list[str] = []
        """Directories that were found and left alone: future copies, strays, and unknown ones."""
        self._deletions: dict[str, int] = {}

    @classmethod
    def open(
        cls,
        disk: Disk,
        paths: Sequence[str],
        *,
        entropy: Entropy,
        node_id: int | None = None,
        cluster_id: str | None = None,
    ) -> LogDirs:
        """Claim every directory and check whose they are.

        Nothing is changed before all agree. StorageError when one is in use, not formatted, or
        another's, and when none works.
        """
        log_dirs = [LogDir(disk, path) for path in dict.fromkeys(paths)]
        try:
            for log_dir in log_dirs:
                _try(log_dir, log_dir.claim)
            found = {each.path: each.meta for each in log_dirs if each.failure is None}
            _check_any_left(log_dirs)
            identity = agree(found, node_id=node_id, cluster_id=cluster_id)
            for log_dir in log_dirs:
                if log_dir.failure is None:
                    _try(log_dir, log_dir.begin)
                if log_dir.failure is None:
                    _try(log_dir, partial(_give_id, log_dir, entropy))
            _check_any_left(log_dirs)
        except StorageError:
            for log_dir in log_dirs:
                log_dir.release()
            raise
        return cls(disk, log_dirs, identity)

    @property
    def online(self) -> list[LogDir]:
        return [log_dir for log_dir in self.log_dirs if log_dir.failure is None]

    @property
    def broken(self) -> dict[TopicPartition, StorageError]:
        """Partitions that could not be opened, and why (I3)."""
        return {key: error for each in self.online for key, error in each.broken.items()}

    def __iter__(self) -> Iterator[HostedLog]:
        """Every open log, in the order of the partitions."""
        hosted = {key: value for each in self.online for key, value in each.logs.items()}
        return iter([hosted[key] for key in sorted(hosted)])

    def get(self, topic_partition: TopicPartition) -> HostedLog | None:
        for log_dir in self.log_dirs:
            hosted = log_dir.logs.get(topic_partition)
            if hosted is not None:
                return hosted
        return None

    def load(
        self,
        open_log: OpenLog,
        *,
        run: RunEach = run_in_turn,
        on_progress: OnProgress | None = None,
        home: FindHome | None = None,
    ) -> None:
        """Open the log of every partition directory. Blocks; `run` may spread it over threads.

        Where a partition stands in two directories, that is what an interrupted move has left: the one that `home`
        names is whole (storage.moving), the other is removed. StorageError when it names neither.
        """
        groups: list[list[tuple[LogDir, LogToOpen]]] = []
        for log_dir in self.online:
            found: list[tuple[LogDir, LogToOpen]] = []
            _try(log_dir, partial(self._look_into, log_dir, found))
            groups.append(found)
        self._choose_homes(groups, home)

        def load_one(item: tuple[LogDir, LogToOpen]) -> Loaded:
            log_dir, to_open = item
            try:
                return Loaded(log_dir, to_open, log_dir.open_log(to_open, open_log))
            except (StorageError, OSError) as error:
                return Loaded(log_dir, to_open, error)

        total = sum(map(len, groups))
        for done, loaded in enumerate(run(load_one, groups), 1):
            self._take(loaded)
            if on_progress is not None:
                on_progress(done, total, str(loaded.to_open.topic_partition))
        for log_dir in self.online:
            log_dir.is_loaded = True
            _try(log_dir, log_dir.lower_recovery_points)
        _check_any_left(self.log_dirs)

    def create(
        self,
        topic_partition: TopicPartition,
        topic_id: bytes,
        open_log: OpenLog,
        *,
        directory_id: bytes | None = None,
    ) -> HostedLog:
        """Make a new partition, durably, in the directory named or in the one with the fewest.

        On OSError the directory that was chosen is offline, and StorageError says so.
        """
        if not is_topic_name(topic_partition.topic):
            raise ValueError(f"{topic_partition.topic!r} is not a topic's name")
        if self.get(topic_partition) is not None or topic_partition in self.broken:
            raise StorageError(f"{topic_partition} is here already")
        log_dir = self._place(directory_id)
        directory = f"{log_dir.path}/{topic_partition}"
        try:
            log_dir.forget(topic_partition)
            self.disk.make_directory(directory)
            write_topic_id(self.disk, directory, topic_id)
            self.disk.flush_directory(log_dir.path)
            to_open = LogToOpen(topic_partition, directory, LastStop(clean=True))
            log = open_log(to_open)
        except OSError as error:
            self.fail(log_dir, error)
            raise StorageError(f"{directory}: {error}") from error
        hosted = HostedLog(topic_partition, log_dir, directory, topic_id, log)
        log_dir.logs[topic_partition] = hosted
        return hosted

    def schedule_deletion(
        self, topic_partition: TopicPartition, *, at_ms: int, entropy: Entropy
    ) -> str | None:
        """Take a partition away now and its files later; the directory's new path, None if unknown.

        Nothing may be written through its log any more; those who read from it can go on.
        """
        path = self._set_aside(topic_partition, Stage.DELETE, entropy)
        if path is not None:
            self._deletions[path] = at_ms
        return path

    def set_stray(self, topic_partition: TopicPartition, *, entropy: Entropy) -> str | None:
        """Take a partition away that the metadata does not know, and keep its files for a human."""
        path = self._set_aside(topic_partition, Stage.STRAY, entropy)
        if path is not None:
            self.others.append(path)
        return path

    def delete_later(self, path: str, *, at_ms: int) -> None:
        """A directory was set aside for deletion: its files go then."""
        self._deletions[path] = at_ms

    def deletions_due(self, now_ms: int) -> list[str]:
        """Directories to give to `remove_tree` on a helper thread; each is named once."""
        due = sorted(path for path, at_ms in self._deletions.items() if at_ms <= now_ms)
        for path in due:
            del self._deletions[path]
        return due

    def checkpoint_plans(self, name: str) -> list[CheckpointPlan]:
        """One checkpoint of every directory, to be run anywhere; a failed one goes to `fail`."""
        return [log_dir.checkpoint(name) for log_dir in self.online]

    def checkpoint_recovery_points(self) -> None:
        """Remember how far each log is flushed. Blocks, as the next two do."""
        self._checkpoint(RECOVERY_POINTS)

    def checkpoint_log_start_offsets(self) -> None:
        self._checkpoint(LOG_START_OFFSETS)

    def checkpoint_high_watermarks(self) -> None:
        self._checkpoint(HIGH_WATERMARKS)

    def fail(self, log_dir: LogDir, error: OSError) -> list[TopicPartition]:
        """A call on this directory failed: it is offline from now on (I2); its partitions."""
        lost = log_dir.fail(error)
        for path in [path for path in self._deletions if parent_of(path) == log_dir.path]:
            del self._deletions[path]
        _check_any_left(self.log_dirs)
        return lost

    def close(
        self,
        *,
        now_ms: int,
        broker_epoch: int,
        is_clean: bool = True,
        run: RunEach = run_in_turn,
    ) -> None:
        """Stop (I4). Blocks. `is_clean` false: something of the owner's did not stop cleanly.

        A directory that fails here is left unpromised, for recovery; the others are not its affair. `run` may spread
        the logs over threads: each waits for its own flushes.
        """

        def close_one(item: tuple[LogDir, HostedLog]) -> tuple[LogDir, OSError | None]:
            log_dir, hosted = item
            try:
                hosted.log.close(now_ms=now_ms)
            except OSError as error:
                return log_dir, error
            return log_dir, None

        groups = [[(one, one.logs[key]) for key in sorted(one.logs)] for one in self.online]
        for log_dir, error in run(close_one, groups):
            if error is not None:
                log_dir.fail(error)
        for log_dir in self.online:
            _try(log_dir, partial(self._promise, log_dir, broker_epoch, is_clean=is_clean))
        for log_dir in self.log_dirs:
            log_dir.release()

    def _promise(self, log_dir: LogDir, broker_epoch: int, *, is_clean: bool) -> None:
        for name in CHECKPOINTS:
            log_dir.checkpoint(name).run()
        if log_dir.is_whole and is_clean:
            log_dir.promise_clean(broker_epoch)

    def _look_into(self, log_dir: LogDir, into: list[tuple[LogDir, LogToOpen]]) -> None:
        contents = log_dir.contents()
        into.extend((log_dir, to_open) for to_open in contents.live)
        self._deletions.update(dict.fromkeys(contents.deleted, 0))
        self.others.extend(contents.others)

    def _choose_homes(
        self, groups: list[list[tuple[LogDir, LogToOpen]]], home: FindHome | None
    ) -> None:
        """See `load`."""
        places: dict[TopicPartition, list[tuple[LogDir, LogToOpen]]] = {}
        for group in groups:
            for item in group:
                places.setdefault(item[1].topic_partition, []).append(item)
        for key, items in places.items():
            if len(items) == 1:
                continue
            wanted = None if home is None else home(key)
            ids = [None if each.meta is None else each.meta.directory_id for each, _ in items]
            if wanted is None or wanted not in ids:
                names = " and ".join(to_open.directory for _, to_open in items)
                raise StorageError(f"{names} are the same partition")
            for group in groups:
                for item in items:
                    meta = item[0].meta
                    if item in group and meta is not None and meta.directory_id != wanted:
                        group.remove(item)
                        _try(item[0], partial(remove_tree, self.disk, item[1].directory))

    def _take(self, loaded: Loaded) -> None:
        log_dir, to_open, outcome = loaded
        if isinstance(outcome, OSError):
            log_dir.fail(outcome)
        elif isinstance(outcome, StorageError):
            log_dir.broken[to_open.topic_partition] = outcome
        elif log_dir.failure is None:
            log_dir.logs[to_open.topic_partition] = outcome

    def _place(self, directory_id: bytes | None) -> LogDir:
        candidates = [
            log_dir
            for log_dir in self.online
            if directory_id is None
            or (log_dir.meta is not None and log_dir.meta.directory_id == directory_id)
        ]
        if not candidates:
            wanted = "at all" if directory_id is None else f"with id {uuid_to_text(directory_id)}"
            raise StorageError(f"there is no log directory {wanted} that works")
        return min(candidates, key=lambda log_dir: len(log_dir.logs) + len(log_dir.broken))

    def _set_aside(
        self, topic_partition: TopicPartition, stage: Stage, entropy: Entropy
    ) -> str | None:
        """Rename a live directory, durably; its log is not ours any more."""
        for log_dir in self.online:
            if topic_partition not in log_dir.logs and topic_partition not in log_dir.broken:
                continue
            name = staged_name(topic_partition, stage, entropy.bytes(_UNIQUE_SIZE))
            path = f"{log_dir.path}/{name}"
            try:
                self.disk.rename(f"{log_dir.path}/{topic_partition}", path)
                self.disk.flush_directory(log_dir.path)
            except OSError as error:
                self.fail(log_dir, error)
                return None
            log_dir.logs.pop(topic_partition, None)
            log_dir.broken.pop(topic_partition, None)
            return path
        return None

    def _checkpoint(self, name: str) -> None:
        for plan in self.checkpoint_plans(name):
            try:
                plan.run()
            except OSError as error:
                self.fail(plan.log_dir, error)


def remove_tree(disk: Disk, path: str) -> None:
    """Remove a directory that was set aside, with all that is in it. Blocks."""
    for name in disk.list(path):
        inside = f"{path}/{name}"
        if disk.stat(inside).is_directory:
            remove_tree(disk, inside)
        else:
            disk.remove(inside)
    disk.remove(path)
    disk.flush_directory(parent_of(path))


def _give_id(log_dir: LogDir, entropy: Entropy) -> None:
    """A directory without an id gets one."""
    if log_dir.meta is not None and log_dir.meta.directory_id is None:
        log_dir.meta = replace(log_dir.meta, directory_id=new_uuid(entropy))
        write_meta_properties(log_dir.disk, log_dir.path, log_dir.meta)


def _try(log_dir: LogDir, step: Callable[[], None]) -> None:
    """An OSError concerns this directory alone (I2)."""
    try:
        step()
    except OSError as error:
        log_dir.fail(error)


def _check_any_left(log_dirs: Iterable[LogDir]) -> None:
    failures = [f"{each.path}: {each.failure}" for each in log_dirs if each.failure is not None]
    if all(each.failure is not None for each in log_dirs):
        raise StorageError("no log directory works: " + "; ".join(failures))
