"""Replicas on their way to another log directory of this broker: copied beside their work, told of, exchanged.

A move is begun by AlterReplicaLogDirs. The copy follows the log until it has everything; then the controller is told
where the replica will be, and as soon as it knows, the copy takes the replica's place.

Invariants
  I1  A replica is on at most one way; another destination ends the way that it was on.
  I2  The controller knows the new directory before anything is served from it: when that directory fails next, it
      knows which replicas are lost.
  I3  A move that ends early leaves nothing but a directory that is removed; the replica was never touched.
  I4  What a crash interrupted begins again from an empty copy.
  I5  All moves together copy no more than `replica.alter.log.dirs.io.max.bytes.per.second`.
Not here   the copy itself (storage.moving), who asks (handlers.alter_replica_log_dirs), who tells (node.reports).
See        KIP-113, KIP-858
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, Protocol

from quire.broker.flushing import Flushes
from quire.broker.journal import Journal
from quire.broker.replica import Replica
from quire.errors import CorruptBatchError, StorageError
from quire.ports.background import Background
from quire.ports.clock import Clock
from quire.ports.entropy import Entropy
from quire.storage.directory_names import Stage, parse_directory_name, staged_name
from quire.storage.log import Log
from quire.storage.log_dir import CHECKPOINTS, HostedLog, LogDir, LogToOpen
from quire.storage.log_dirs import LogDirs
from quire.storage.moving import Copy, OriginError
from quire.storage.small_files import parent_of
from quire.types import TopicPartition

PAUSE_SECONDS: Final = 0.05
"""How long a copy that has everything waits for the controller to know."""
LONGEST_PAUSE_SECONDS: Final = 1.0
"""How long a move sleeps at most without looking whether it is still wanted."""
_UNIQUE_SIZE: Final = 16


class Home(Protocol):
    """What moves need of all replicas (broker.replicas has it)."""

    flushes: Flushes

    @property
    def bound_for(self) -> dict[tuple[bytes, int], bytes]: ...

    @property
    def unreported(self) -> dict[tuple[bytes, int], bytes]: ...

    @property
    def move_bytes_per_second(self) -> int: ...

    def get(self, topic: str, partition: int) -> Replica | None: ...

    def failed(self, log_dir: LogDir, error: OSError) -> None: ...

    def open_log(self, to_open: LogToOpen) -> Log: ...

    async def exchange(
        self,
        replica: Replica,
        is_ready: Callable[[], bool],
        make: Callable[[], Awaitable[HostedLog]],
    ) -> None: ...


class _Move:
    """One replica on its way."""

    __slots__ = ("copy", "has_arrived", "has_ended", "replica", "to")

    def __init__(self, replica: Replica, to: LogDir, copy: Copy) -> None:
        self.replica = replica
        self.to = to
        self.copy = copy
        self.has_ended = self.has_arrived = False

    @property
    def key(self) -> tuple[bytes, int]:
        return self.replica.topic_id, self.replica.topic_partition.partition

    @property
    def is_wanted(self) -> bool:
        return not self.has_ended and self.replica.gone is None and self.to.failure is None


class Moves:
    """See the module."""

    def __init__(
        self,
        home: Home,
        *,
        log_dirs: LogDirs,
        clock: Clock,
        entropy: Entropy,
        background: Background,
        journal: Journal,
    ) -> None:
        self._home = home
        self._log_dirs = log_dirs
        self._clock = clock
        self._entropy = entropy
        self._background = background
        self._journal = journal
        self._moves: dict[TopicPartition, _Move] = {}
        self._preferred: dict[TopicPartition, LogDir] = {}
        """Where replicas are wanted that are not here yet."""
        self._free_ms = 0.0
        """When the next piece may be copied, by the monotonic clock (I5)."""

    def __len__(self) -> int:
        return len(self._moves)

    def begin(self, replica: Replica, to: LogDir) -> None:
        """Let it go to `to`, which works; where it is already, a way that it is on ends."""
        under_way = self._moves.get(replica.topic_partition)
        if under_way is not None:
            if under_way.to is to:
                return
            self._end(under_way)  # I1
        if replica.hosted.log_dir is to:
            return
        copy = Copy(replica.hosted, to, unique=self._entropy.bytes(_UNIQUE_SIZE))
        move = self._moves[replica.topic_partition] = _Move(replica, to, copy)
        self._say(move, "begins to move", to=to.path)
        self._home.flushes.begin(self._run(move))

    def prefer(self, topic_partition: TopicPartition, to: LogDir) -> None:
        """A replica that is not here is wanted in `to`, should it come and the metadata not say where."""
        self._preferred[topic_partition] = to

    def preferred(self, topic_partition: TopicPartition) -> bytes | None:
        """The id of the directory where it is wanted; it is asked once."""
        to = self._preferred.pop(topic_partition, None)
        return None if to is None or to.failure is not None else _id_of(to)

    def resume(self) -> None:
        """Begin again what the last process left half done (I4); to be called once."""
        left, self._log_dirs.others[:] = self._log_dirs.others[:], []
        for path in left:
            parsed = parse_directory_name(path.rpartition("/")[2])
            is_copy = parsed is not None and parsed.stage is Stage.FUTURE
            replica = self._home.get(*parsed.topic_partition) if parsed and is_copy else None
            if replica is None:  # of a log that cannot be opened it may be all that there is
                self._log_dirs.others.append(path)
                continue
            self._log_dirs.delete_later(path, at_ms=0)
            for log_dir in self._log_dirs.online:
                if log_dir.path == parent_of(path):
                    self.begin(replica, log_dir)

    def stop(self) -> None:
        """End every move at its next step."""
        for move in list(self._moves.values()):
            self._end(move)

    # --- inside -------------------------------------------------------------------------------

    async def _run(self, move: _Move) -> None:
        key = move.replica.topic_partition
        hosted: HostedLog | None = None
        try:
            hosted = await self._background.run(partial(move.copy.open, self._home.open_log))
            if move.is_wanted:
                move.to.futures[key] = hosted
                await self._follow(move)
        except OSError as error:
            self._home.failed(move.to, error)
        except OriginError as failure:
            self._home.failed(move.replica.hosted.log_dir, failure.error)
        except (CorruptBatchError, StorageError) as error:
            self._say(move, "cannot be moved", error=str(error))
        if hosted is not None and move.to.futures.get(key) is hosted:
            del move.to.futures[key]
        if not move.has_arrived:
            self._end(move)
            if move.to.failure is None:
                self._log_dirs.delete_later(move.copy.directory, at_ms=0)  # I3

    async def _follow(self, move: _Move) -> None:
        """Copy, tell, and exchange, until one of them ends it."""
        while move.is_wanted:
            now_ms = self._clock.wall_ms()
            piece = move.copy.next(now_ms=now_ms)
            if piece is not None:
                await self._background.run(partial(move.copy.take, piece, now_ms=now_ms))
                await self._keep_pace(move, piece.size)
            elif self._is_told(move):
                await self._home.exchange(
                    move.replica, partial(self._is_ready, move), partial(self._exchange, move)
                )
            else:
                await asyncio.sleep(PAUSE_SECONDS)

    async def _keep_pace(self, move: _Move, size: int) -> None:
        """I5."""
        now_ms = self._clock.monotonic_ms()
        taken_ms = size * 1000 / max(self._home.move_bytes_per_second, 1)
        self._free_ms = max(self._free_ms, now_ms) + taken_ms
        while move.is_wanted:
            wait_ms = self._free_ms - self._clock.monotonic_ms()
            if wait_ms < 1:
                return
            await asyncio.sleep(min(wait_ms / 1000, LONGEST_PAUSE_SECONDS))

    def _is_told(self, move: _Move) -> bool:
        """Whether the controller knows where the replica will be (I2)."""
        wanted = _id_of(move.to)
        if wanted is not None and self._home.bound_for.get(move.key) != wanted:
            self._home.bound_for[move.key] = self._home.unreported[move.key] = wanted
        return move.key not in self._home.unreported

    @staticmethod
    def _is_ready(move: _Move) -> bool:
        return move.is_wanted and move.copy.has_everything

    async def _exchange(self, move: _Move) -> HostedLog:
        """The log that the replica goes on with: the copy, or its own where the disk does not let us."""
        copy, old, key = move.copy, move.replica.hosted, move.replica.topic_partition
        try:
            now_ms = self._clock.wall_ms()
            await self._background.run(partial(copy.settle, now_ms=now_ms))
            if not await self._home.flushes.write(move.to, CHECKPOINTS):
                self._end(move)
                return old
            new = await self._background.run(partial(copy.exchange, self._home.open_log))
        except OSError as error:
            self._home.failed(move.to, error)
            self._end(move)
            return old
        move.has_arrived = True
        self._end(move)
        old.log_dir.logs.pop(key, None)
        move.to.futures.pop(key, None)
        move.to.logs[key] = new
        name = staged_name(key, Stage.DELETE, self._entropy.bytes(_UNIQUE_SIZE))
        aside = f"{old.log_dir.path}/{name}"
        try:
            await self._background.run(partial(copy.set_aside, aside))
            delay_ms = copy.source.settings.file_delete_delay_ms
            self._log_dirs.delete_later(aside, at_ms=self._clock.wall_ms() + delay_ms)
        except OSError as error:
            self._home.failed(old.log_dir, error)
        self._say(move, "has moved", to=move.to.path, leo=copy.source.log_end_offset)
        return new

    def _end(self, move: _Move) -> None:
        """It is not on its way any more; where it is told to be elsewhere, that is taken back."""
        move.has_ended = True
        if self._moves.get(move.replica.topic_partition) is move:
            del self._moves[move.replica.topic_partition]
            here = _id_of(move.replica.hosted.log_dir)
            if self._home.bound_for.pop(move.key, None) is None or move.has_arrived:
                return
            if move.replica.gone is None and here is not None:
                self._home.unreported[move.key] = here

    def _say(self, move: _Move, text: str, **facts: object) -> None:
        self._journal.say("moves", str(move.replica.topic_partition), text, **facts)


def _id_of(log_dir: LogDir) -> bytes | None:
    return None if log_dir.meta is None else log_dir.meta.directory_id
