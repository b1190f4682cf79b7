"""All partitions that this broker holds: made, opened and taken away as the metadata says, written to, made durable.

    apply    an image -> partitions are set aside, made, configured, and told their roles
    append   validated batches -> the log, the high watermark, and whoever waits for either
    flushes  the one way in which a log is flushed while the broker runs (flushing)

Invariants
  I1  A partition is in the table exactly while its log is open and its directory works; `why_not` says why one that
      should be here is not.
  I2  A log is never flushed, renamed or closed by two at once: flushes of one replica run one after the other, and a
      replica is taken away only after its flush has ended.
  I3  A write that a full disk refused is as if it had not been asked for; what stays half done, and every other
      failure of the disk, takes its directory offline, alone.
  I4  Where answers wait for the disk (fsync_before_ack) the high watermark does too: nothing is ever read that a power
      loss could take.
Not here   one partition (replica), what it is told to be (roles), who leads (the metadata), what requests ask
           (handlers), when (the node's timers).
See        KIP-112, KIP-858
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import Final

from quire.broker.broker import Waiting
from quire.broker.flushing import Flushes, is_disk_full
from quire.broker.journal import Journal, Silence
from quire.broker.metrics import Metrics
from quire.broker.moves import Moves
from quire.broker.replica import Replica
from quire.broker.roles import Roles
from quire.config.layers import BrokerLayers
from quire.errors import ErrorCode, StorageError
from quire.metadata.delta import Touched
from quire.metadata.image import (
    EMPTY,
    MIGRATING_DIRECTORY,
    UNASSIGNED_DIRECTORY,
    Image,
    Partition,
)
from quire.ports.background import Background
from quire.ports.clock import Clock
from quire.ports.entropy import Entropy
from quire.records.batch import BatchHeader
from quire.replication.leader import AlterPartition, Leader
from quire.storage.append import AppendInfo, Outcome
from quire.storage.directory_names import Stage
from quire.storage.log import Log
from quire.storage.log_dir import HostedLog, LogDir, LogToOpen
from quire.storage.log_dirs import LogDirs
from quire.storage.making import Making, NewPartition, plan_making, plan_removal
from quire.storage.partition_metadata import write_topic_id
from quire.types import TopicPartition

__all__ = ["Replica", "Replicas"]

MAKING_AT_ONCE: Final = 32
"""How many new partitions one piece of background work makes."""
RETRY_SECONDS: Final = 5.0
"""When partitions that did not fit on the disk are tried again."""
_ANY_DIRECTORY: Final = (MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY)


class Replicas:
    """See the module."""

    def __init__(
        self,
        *,
        log_dirs: LogDirs,
        waiting: Waiting,
        clock: Clock,
        entropy: Entropy,
        background: Background,
        metrics: Metrics,
        journal: Journal | None = None,
    ) -> None:
        self.flushes = Flushes(
            log_dirs=log_dirs,
            clock=clock,
            background=background,
            metrics=metrics,
            failed=self.failed,
        )
        self.on_directory_lost: Callable[[LogDir, StorageError | None], None] | None = None
        self.on_late: Callable[[TopicPartition], None] | None = None
        """Told of a partition whose replica came, or became another one, without a word of the metadata."""
        """Told of a directory that went offline, with the error when none is left."""
        self._log_dirs = log_dirs
        self._waiting = waiting
        self._clock = clock
        self._entropy = entropy
        self._background = background
        self._metrics = metrics
        self._journal: Journal = Silence() if journal is None else journal
        self._roles = Roles(
            clock=clock, journal=self._journal, advance=self.advance, changed=self.changed
        )
        self.moves = Moves(
            self,
            log_dirs=log_dirs,
            clock=clock,
            entropy=entropy,
            background=background,
            journal=self._journal,
        )
        self._image: Image = EMPTY
        self._replicas: dict[tuple[str, int], Replica] = {}
        self._by_id: dict[tuple[bytes, int], Replica] = {}
        self._absent: dict[tuple[str, int], ErrorCode] = {}
        self._unmade: dict[TopicPartition, NewPartition] = {}
        self._retry: asyncio.TimerHandle | None = None
        self._is_adopted = False
        self._changing = asyncio.Lock()

    # --- questions ----------------------------------------------------------------------------

    @property
    def isr_changes(self) -> dict[Replica, AlterPartition]:
        """What the controller must be asked for; whoever asks takes them out."""
        return self._roles.isr_changes

    @property
    def unreported(self) -> dict[tuple[bytes, int], bytes]:
        """(Topic id, partition) -> the id of the directory it is in, where the metadata says something else."""
        return self._roles.unreported

    @property
    def bound_for(self) -> dict[tuple[bytes, int], bytes]:
        """(Topic id, partition) -> the id of the directory where it will be in a moment."""
        return self._roles.bound_for

    @property
    def move_bytes_per_second(self) -> int:
        """How fast replicas may move from one directory to another."""
        return self._roles.move_bytes_per_second

    def __len__(self) -> int:
        return len(self._replicas)

    def __iter__(self) -> Iterator[Replica]:
        return iter(list(self._replicas.values()))

    def get(self, topic: str, partition: int) -> Replica | None:
        """The replica, when it is here and works."""
        return self._replicas.get((topic, partition))

    def by_id(self, topic_id: bytes, partition: int) -> Replica | None:
        """The replica, by its topic's id."""
        return self._by_id.get((topic_id, partition))

    def why_not(self, topic: str, partition: int) -> ErrorCode:
        """Why `get` gives none: its disk failed, it is another broker's, or nobody knows it (I1)."""
        absent = self._absent.get((topic, partition))
        if absent is not None:
            return absent
        known = self._image.topics.get(topic)
        if known is not None and partition in known.partitions:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    # --- what the metadata says ---------------------------------------------------------------

    def prepare(self, image: Image, layers: BrokerLayers) -> None:
        """What `open_log` goes by until the first `apply`: before the logs are loaded."""
        self._image = image
        self._roles.see(image, layers)

    def open_log(self, to_open: LogToOpen) -> Log:
        """Open a log with the settings of its topic. Blocks; any thread may call it."""
        _, settings = self._roles.settings_of(to_open.topic_partition.topic)
        return Log.open(
            self._log_dirs.disk,
            to_open.directory,
            settings,
            now_ms=self._clock.wall_ms(),
            last_stop=to_open.last_stop,
            draw_below=self._entropy.below,
        )

    async def apply(
        self,
        image: Image,
        touched: Touched,
        layers: BrokerLayers,
        broker_epoch: int,  # noqa: ARG002 -- followers will say it in their fetches
    ) -> None:
        """Become what the image says; the first time, everything must be touched."""
        async with self._changing:
            self._image = image
            has_new_layers = self._roles.see(image, layers)
            if not self._is_adopted:
                self._is_adopted = True
                await self._adopt()
            await self._take_away(self._gone_by(touched), self._forget_absent(touched))
            self._roles.reconfigure(self, touched, everything=has_new_layers)
            await self._make(self._new_by(touched))
            if touched.brokers:
                self._roles.note_brokers(self)
            self._give_roles(touched.partitions)

    # --- writing ------------------------------------------------------------------------------

    def append(
        self,
        replica: Replica,
        buffer: bytearray | memoryview,
        *,
        header: BatchHeader | None = None,
        now_ms: int,
        monotonic_ms: int,
        from_client: bool = True,
        requires_sequence_zero: bool = False,
    ) -> Outcome:
        """Write validated batches as the leader, and tell whoever waits; StorageError when the disk does not let us.

        `header` is that of the one batch, when there is one and it was read before.
        """
        leader = replica.leader
        assert leader is not None
        log = replica.log
        try:
            outcome = log.append(
                buffer,
                header=header,
                leader_epoch=leader.leader_epoch,
                now_ms=now_ms,
                from_client=from_client,
                requires_sequence_zero=requires_sequence_zero,
            )
        except OSError as error:
            self.failed(replica.hosted.log_dir, error)
            raise StorageError(f"{replica.topic_partition}: {error}") from error
        if isinstance(outcome, AppendInfo):
            if log.settings.fsync_before_ack:
                self._waiting.fetch.changed(replica.topic_partition)
                self.flushes.when_durable(
                    replica, log.log_end_offset, partial(self._on_durable, replica, leader)
                )
            elif not self.advance(replica, leader.on_appended(log.log_end_offset, monotonic_ms)):
                self._waiting.fetch.changed(
                    replica.topic_partition
                )  # followers need no high watermark
            if outcome.rolled:
                self.flushes.soon(replica, up_to=outcome.first_offset)
        return outcome

    def advance(self, replica: Replica, high_watermark: int) -> bool:
        """Tell the log, and whoever waits for it, where the high watermark of its leader is; whether it has moved."""
        if high_watermark <= replica.log.high_watermark:
            return False
        replica.log.update_high_watermark(high_watermark)
        waiting, key = self._waiting, replica.topic_partition
        waiting.produce.changed(key)
        waiting.fetch.changed(key)
        waiting.delete_records.changed(key)
        return True

    def changed(self, replica: Replica) -> None:
        """Something that answers may wait for has changed: the role, the log's start, a follower's progress."""
        waiting, key = self._waiting, replica.topic_partition
        waiting.produce.changed(key)
        waiting.fetch.changed(key)
        waiting.delete_records.changed(key)

    def on_time(self) -> None:
        """Look for followers that fell behind; every half of `replica.lag.time.max.ms`."""
        now_ms = self._clock.monotonic_ms()
        for replica in self:
            if replica.leader is not None and replica.leader.followers:
                change = replica.leader.on_time(now_ms)
                if change is not None:
                    self.isr_changes[replica] = change

    def failed(self, log_dir: LogDir, error: OSError) -> None:
        """A call on this directory failed: it is offline, unless all that was missing is room (I3)."""
        if is_disk_full(error) and all(each.log.failure is None for each in log_dir.logs.values()):
            self._metrics.refused_for_lack_of_space += 1
            return
        if log_dir.failure is not None:
            return
        none_left = None
        try:
            self._log_dirs.fail(log_dir, error)
        except StorageError as last:
            none_left = last
        self._metrics.offline_directories += 1
        lost = [each for each in self if each.hosted.log_dir is log_dir]
        self._journal.say("replicas", log_dir.path, "offline", error=str(error), lost=len(lost))
        for replica in lost:
            self._absent[replica.topic_partition] = ErrorCode.KAFKA_STORAGE_ERROR
            self._drop(replica, ErrorCode.KAFKA_STORAGE_ERROR)
        if self.on_directory_lost is not None:
            self.on_directory_lost(log_dir, none_left)

    async def exchange(
        self,
        replica: Replica,
        is_ready: Callable[[], bool],
        make: Callable[[], Awaitable[HostedLog]],
    ) -> None:
        """If `is_ready` when nothing else goes on, let another replica with the log of `make` take this one's place.

        Whoever asks meanwhile is told NOT_LEADER_OR_FOLLOWER, and comes again.
        """
        async with self._changing:
            await self.flushes.quiet(replica)  # I2
            if replica.gone is not None or not is_ready():
                return
            self._drop(replica, ErrorCode.NOT_LEADER_OR_FOLLOWER)
            hosted = await make()
            if hosted.log_dir.failure is None:
                self._put(hosted, replica.topic_id)
                self._give_late([(replica.topic_id, replica.topic_partition)])
            else:
                self._absent[replica.topic_partition] = ErrorCode.KAFKA_STORAGE_ERROR

    async def settle(self) -> None:
        """Return when nothing that was begun here goes on, nor will: the broker stops."""
        self._forget_retry()
        self.moves.stop()
        await self.flushes.settle()

    def drop(self) -> None:
        """End everything without waiting, as a crash does."""
        self._forget_retry()
        self.flushes.drop()

    def check(self) -> None:
        """Assert the invariants."""
        for key, replica in self._replicas.items():
            assert key == replica.topic_partition
            assert replica.gone is None  # I1
            assert replica.hosted.log_dir.failure is None  # I1
            assert self._by_id[replica.topic_id, key[1]] is replica
            assert key not in self._absent
            replica.check()
        assert len(self._by_id) == len(self._replicas)

    # --- inside: what is here -----------------------------------------------------------------

    async def _adopt(self) -> None:
        """Take in what was loaded; what the metadata does not know is set aside (kept for a human)."""
        strays = []
        for hosted in self._log_dirs:
            key = hosted.topic_partition
            topic = self._image.topics.get(key.topic)
            partition = None if topic is None else topic.partitions.get(key.partition)
            if topic is None or partition is None or self._roles.node_id not in partition.replicas:
                strays.append(key)
            elif hosted.topic_id == topic.topic_id:
                self._put(hosted, topic.topic_id)
            elif hosted.topic_id is None and not _has_records(hosted):
                write = partial(
                    write_topic_id, self._log_dirs.disk, hosted.directory, topic.topic_id
                )
                if await self._try(hosted.log_dir, write):
                    self._put(hosted, topic.topic_id)
            else:
                strays.append(key)
        for key, error in self._log_dirs.broken.items():
            self._absent[key] = ErrorCode.KAFKA_STORAGE_ERROR
            self._journal.say("replicas", str(key), "cannot be opened", error=str(error))
        await self._set_aside(strays, Stage.STRAY)
        self.moves.resume()

    def _gone_by(self, touched: Touched) -> list[Replica]:
        """What is here and should not be any more."""
        gone: dict[Replica, None] = {}
        if touched.deleted_topics:
            for replica in self:
                if replica.topic_id in touched.deleted_topics:
                    gone[replica] = None
        for topic_id, index in touched.partitions:
            partition = self._image.partition(topic_id, index)
            if partition is None or self._roles.node_id not in partition.replicas:
                found = self._by_id.get((topic_id, index))
                if found is not None:
                    gone[found] = None
        return list(gone)

    def _forget_absent(self, touched: Touched) -> list[TopicPartition]:
        """Partitions of deleted topics that were not here because of a disk."""
        names = set(touched.deleted_topics.values())
        absent = [TopicPartition(*key) for key in self._absent if key[0] in names]
        for key in absent:
            del self._absent[key]
        return absent

    def _new_by(self, touched: Touched) -> list[NewPartition]:
        """What should be here and is not."""
        wanted = self._unmade
        self._unmade = {}
        for topic_id, index in touched.partitions:
            name = self._image.topic_names.get(topic_id)
            partition = self._image.partition(topic_id, index)
            if name is None or partition is None or self._roles.node_id not in partition.replicas:
                continue
            key = TopicPartition(name, index)
            if key not in self._replicas and key not in self._absent:
                wanted[key] = NewPartition(key, topic_id, self._directory_for(key, partition))
        return [
            one
            for one in wanted.values()
            if self._image.partition(one.topic_id, one.topic_partition.partition) is not None
        ]

    def _directory_for(self, key: TopicPartition, partition: Partition) -> bytes | None:
        """The directory that the metadata names, if it is one of ours; else the one where it is wanted, or any."""
        directory = partition.directory_of(self._roles.node_id)
        known = {each.meta.directory_id for each in self._log_dirs.online if each.meta is not None}
        wanted = self.moves.preferred(key)
        return directory if directory in known else wanted

    async def _make(self, wanted: list[NewPartition]) -> None:
        if not wanted:
            return
        try:
            makings = plan_making(self._log_dirs, wanted, is_cordoned=self._roles.is_cordoned)
        except StorageError as error:
            self._journal.say("replicas", "partitions", "cannot be made", error=str(error))
            for one in wanted:
                self._absent[one.topic_partition] = ErrorCode.KAFKA_STORAGE_ERROR
            return
        for making in makings:
            await self.flushes.write(making.log_dir, [plan.name for plan in making.forgetting])
            pieces = [
                making.partitions[start : start + MAKING_AT_ONCE]
                for start in range(0, len(making.partitions), MAKING_AT_ONCE)
            ]
            runs = [
                self._background.run(partial(_make_some, making, piece, self.open_log))
                for piece in pieces
            ]
            made: list[HostedLog] = []
            for run in runs:
                some, refusal = await run
                made += some
                if refusal is not None:
                    self.failed(making.log_dir, refusal)
            if await self._try(making.log_dir, making.finish):
                for hosted in made:
                    assert hosted.topic_id is not None
                    making.log_dir.logs[hosted.topic_partition] = hosted
                    self._put(hosted, hosted.topic_id)
            self._remember_unmade(making)

    def _remember_unmade(self, making: Making) -> None:
        """What did not fit is tried again later; what a broken directory could not take is lost with it."""
        for one in making.partitions:
            if one.topic_partition in self._replicas:
                continue
            if making.log_dir.failure is not None:
                self._absent[one.topic_partition] = ErrorCode.KAFKA_STORAGE_ERROR
                continue
            self._unmade[one.topic_partition] = one
        if self._unmade and self._retry is None:
            loop = asyncio.get_running_loop()
            self._retry = loop.call_later(RETRY_SECONDS, self._try_again)

    def _try_again(self) -> None:
        self._retry = None
        self.flushes.begin(self._make_again())

    def _forget_retry(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None

    async def _make_again(self) -> None:
        async with self._changing:
            again = self._new_by(Touched())
            await self._make(again)
            self._give_late([(one.topic_id, one.topic_partition) for one in again])

    def _give_late(self, keys: list[tuple[bytes, TopicPartition]]) -> None:
        """Roles outside of `apply`; whoever looks at replicas only then is told."""
        self._give_roles([(topic_id, one.partition) for topic_id, one in keys])
        if self.on_late is not None:
            for _, one in keys:
                self.on_late(one)

    async def _take_away(self, gone: list[Replica], absent: list[TopicPartition]) -> None:
        for replica in gone:
            self._drop(replica, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        for replica in gone:
            await self.flushes.quiet(replica)  # I2
        for name in {replica.topic_partition.topic: None for replica in gone}:
            if name not in self._image.topics:
                self._metrics.forget_topic(name)
        await self._set_aside(
            [*(replica.topic_partition for replica in gone), *absent], Stage.DELETE
        )

    async def _set_aside(self, gone: list[TopicPartition], stage: Stage) -> None:
        if not gone:
            return
        at_ms = self._clock.wall_ms() + self._roles.file_delete_delay_ms
        for removal in plan_removal(self._log_dirs, gone, stage, entropy=self._entropy):
            if not await self._try(removal.log_dir, removal.run):
                continue
            for _old, new in removal.renames:
                if stage is Stage.DELETE:
                    self._log_dirs.delete_later(new, at_ms=at_ms)
                else:
                    self._log_dirs.others.append(new)
        names = ", ".join(map(str, gone[:5])) + (", ..." if len(gone) > 5 else "")
        self._journal.say("replicas", names, f"set aside: {stage.value}", count=len(gone))

    def _give_roles(self, partitions: Iterable[tuple[bytes, int]]) -> None:
        for topic_id, index in partitions:
            replica = self._by_id.get((topic_id, index))
            partition = self._image.partition(topic_id, index)
            if replica is not None and partition is not None:
                self._roles.give(replica, partition)

    def _put(self, hosted: HostedLog, topic_id: bytes) -> None:
        key = hosted.topic_partition
        replica = Replica(hosted, topic_id, self._metrics.topic(key.topic))
        replica.configure(*self._roles.settings_of(key.topic))
        self._replicas[key] = self._by_id[topic_id, key.partition] = replica

    def _drop(self, replica: Replica, why: ErrorCode) -> None:
        """The replica is not here any more; whoever waits for it is told."""
        key = replica.topic_partition
        replica.gone = why
        replica.leader = None
        del self._replicas[key], self._by_id[replica.topic_id, key.partition]
        self._roles.forget(replica)
        for tell in replica.commits.failed():
            tell(False)  # noqa: FBT003 -- it is what is told
        self.changed(replica)

    async def _try(self, log_dir: LogDir, work: Callable[[], None]) -> bool:
        """Do `work` in the background; False when the disk did not let us, which is told."""
        try:
            await self._background.run(work)
        except OSError as error:
            self.failed(log_dir, error)
            return False
        return True

    def _on_durable(self, replica: Replica, leader: Leader, is_durable: bool) -> None:  # noqa: FBT001
        """What readers may see, and the leader counts as its own, is on the disk (I4)."""
        if is_durable and replica.leader is leader:
            end_offset, now_ms = replica.log.recovery_point, self._clock.monotonic_ms()
            self.advance(replica, leader.on_appended(end_offset, now_ms))


def _make_some(
    making: Making, partitions: Iterable[NewPartition], open_log: Callable[[LogToOpen], Log]
) -> tuple[list[HostedLog], OSError | None]:
    """What could be made, and why it ended there. Blocks."""
    made = []
    for partition in partitions:
        try:
            made.append(making.make(partition, open_log))
        except OSError as error:
            return made, error
    return made, None


def _has_records(hosted: HostedLog) -> bool:
    log = hosted.log
    return isinstance(log, Log) and log.log_end_offset > log.log_start_offset
