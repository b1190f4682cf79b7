"""Making and taking away many partitions at once: planned on the loop, carried out where it may block.

Each new partition costs two flushes of its own, and each log directory one more for all of them; a removal is a rename
each, and one flush for all.

Invariants
  I1  A partition that was made is durable, with its topic id, once `Making.finish` has returned.
  I2  Of a partition that could not be made nothing is left, if the disk lets us remove it; what is left has no topic
      id, or an empty log, and is taken up or set aside after the next start.
  I3  The checkpoints forget a name before a new partition gets it.
Not here   which directories there are (log_dirs), when removed files go (log_dirs.deletions_due).
See        docs/formats/log-directory.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from quire.errors import StorageError
from quire.ports.disk import Disk
from quire.ports.entropy import Entropy
from quire.storage.directory_names import Stage, staged_name
from quire.storage.loading import LastStop
from quire.storage.log_dir import (
    CHECKPOINTS,
    CheckpointPlan,
    HostedLog,
    LogDir,
    LogToOpen,
    OpenLog,
)
from quire.storage.log_dirs import LogDirs, remove_tree
from quire.storage.partition_metadata import write_topic_id
from quire.types import TopicPartition

_UNIQUE_SIZE = 16


class NewPartition(NamedTuple):
    """A partition to be made; in any directory where none is named."""

    topic_partition: TopicPartition
    topic_id: bytes
    directory_id: bytes | None = None


class Making(NamedTuple):
    """The new partitions of one log directory: `begin`, `make` for each (in any order, anywhere), `finish`."""

    log_dir: LogDir
    partitions: tuple[NewPartition, ...]
    forgetting: tuple[CheckpointPlan, ...]

    def begin(self) -> None:
        """Blocks, as the next two do."""
        for plan in self.forgetting:
            plan.run()

    def make(self, partition: NewPartition, open_log: OpenLog) -> HostedLog:
        """The new partition, with an empty log; OSError when the disk does not let us."""
        disk = self.log_dir.disk
        directory = f"{self.log_dir.path}/{partition.topic_partition}"
        to_open = LogToOpen(partition.topic_partition, directory, LastStop(clean=True))
        try:
            disk.make_directory(directory)
            write_topic_id(disk, directory, partition.topic_id, flush_directory=False)
            log = open_log(to_open)  # flushes the directory, for its first segment
        except OSError:
            with suppress(OSError):  # the first failure is the one to tell
                remove_tree(disk, directory)
            raise
        return HostedLog(
            partition.topic_partition, self.log_dir, directory, partition.topic_id, log
        )

    def finish(self) -> None:
        self.log_dir.disk.flush_directory(self.log_dir.path)


class Removal(NamedTuple):
    """Directories of one log directory that get another name."""

    log_dir: LogDir
    renames: tuple[tuple[str, str], ...]

    def run(self) -> None:
        """Blocks. Those that have their new name already are left alone."""
        disk: Disk = self.log_dir.disk
        for old, new in self.renames:
            if not disk.exists(new):
                disk.rename(old, new)
        disk.flush_directory(self.log_dir.path)


def plan_making(
    log_dirs: LogDirs,
    wanted: Iterable[NewPartition],
    *,
    is_cordoned: Callable[[str], bool] = lambda _: False,
) -> list[Making]:
    """Spread new partitions over the directories that work: the one named, else the emptiest of those that are not
    cordoned, if there is one.

    StorageError when no directory works, or when the one named is not there.
    """
    counts = {each.path: len(each.logs) + len(each.broken) for each in log_dirs.online}
    chosen: dict[str, list[NewPartition]] = {}
    for partition in wanted:
        candidates = [
            each
            for each in log_dirs.online
            if partition.directory_id is None
            or (each.meta is not None and each.meta.directory_id == partition.directory_id)
        ]
        if not candidates:
            raise StorageError(f"no log directory works for {partition.topic_partition}")
        if partition.directory_id is None:
            candidates = [one for one in candidates if not is_cordoned(one.path)] or candidates
        place = min(candidates, key=lambda each: counts[each.path])
        counts[place.path] += 1
        chosen.setdefault(place.path, []).append(partition)
    return [
        Making(each, tuple(chosen[each.path]), _forgetting(each, chosen[each.path]))
        for each in log_dirs.online
        if each.path in chosen
    ]


def plan_removal(
    log_dirs: LogDirs, gone: Sequence[TopicPartition], stage: Stage, *, entropy: Entropy
) -> list[Removal]:
    """Take partitions out of their directories' tables; their files get their new names by `run`."""
    removals = []
    for log_dir in log_dirs.online:
        renames = []
        for key in gone:
            if key not in log_dir.logs and key not in log_dir.broken:
                continue
            name = staged_name(key, stage, entropy.bytes(_UNIQUE_SIZE))
            renames.append((f"{log_dir.path}/{key}", f"{log_dir.path}/{name}"))
            log_dir.logs.pop(key, None)
            log_dir.broken.pop(key, None)
        if renames:
            removals.append(Removal(log_dir, tuple(renames)))
    return removals


def _forgetting(log_dir: LogDir, wanted: Sequence[NewPartition]) -> tuple[CheckpointPlan, ...]:
    """Checkpoints that have a row of a name that will be another partition's (I3)."""
    return tuple(
        log_dir.checkpoint(name)
        for name in CHECKPOINTS
        if any(each.topic_partition in log_dir.written.get(name, {}) for each in wanted)
    )
