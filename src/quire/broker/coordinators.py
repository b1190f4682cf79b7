"""The host of coordinators: one for each partition of an internal topic that this broker leads.

    leads a partition  ->  load: replay it from its start  ->  active: commands, timers, answers  ->  thrown away

Records of a decision are replayed at once. They go into the log in one batch with those of all that is decided in the
same turn of the loop, but for those of a transaction, which have a batch of their own. Answers wait until the high
watermark has passed everything that they may depend on, reads included.

Invariants
  I1  A coordinator lives for one leader epoch of its partition. What it knew is thrown away with it, and whoever waits
      is told NOT_COORDINATOR.
  I2  An append that fails throws the coordinator away too, for it may have gone ahead of its log; it is loaded anew.
  I3  Answers are given in the order of their decisions.
  I4  Until everything is replayed nothing is decided: COORDINATOR_LOAD_IN_PROGRESS.
  I5  Loading ends: what cannot be replayed is said in the journal, and until it can be nobody decides here.
Not here   what is decided (groups, transactions), which broker hosts which key (the topic's leaders, in the image).
See        src/quire/coordination.py, docs/decisions/0013-coordinators-are-replayed-machines.md,
           docs/decisions/0014-one-batch-for-a-turn.md
"""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

from quire.broker.broker import Waiting
from quire.broker.journal import Journal
from quire.broker.replica import Replica
from quire.broker.replicas import Replicas
from quire.coordination import (
    Caller,
    Coordinator,
    Decision,
    KeyValue,
    Moment,
    Producer,
    Ticket,
    Timer,
)
from quire.errors import ErrorCode, QuireError, StorageError
from quire.metadata.delta import Touched
from quire.metadata.image import Image
from quire.ports.clock import Clock
from quire.records.batch import (
    NO_PRODUCER_ID,
    BatchHeader,
    decode_records,
    encode_pairs,
    iterate_headers,
)
from quire.records.compression import Compression
from quire.records.control import ControlType, read_control_type
from quire.replication.leader import ACKS_ALL
from quire.storage.append import AppendInfo
from quire.storage.lookup import OutOfRange
from quire.types import TopicPartition

LOAD_BYTES: Final = 1 << 20
"""How much is replayed before the loop may do something else."""
LOAD_AGAIN_SECONDS: Final = 1.0
"""After the disk has failed."""
LOAD_UNREADABLE_AGAIN_SECONDS: Final = 60.0
"""After a record that cannot be read: it will hardly have changed."""
KEYS_REMEMBERED: Final = 1024
"""Whose partition is not computed anew: the same few groups and producers ask all the time."""
BATCH_BYTES: Final = 512 << 10
"""More than this is not gathered into one batch."""


class CoordinatorError(Exception):
    """Nobody decides here; the code is the answer."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


class Kind(NamedTuple):
    """What one kind of coordinator needs of its host."""

    topic: str
    make: Callable[[int], Coordinator]
    """A new machine for a partition."""
    base_sequence: int
    """What its batches carry: 0 in the offsets topic, -1 in that of transactions, as Apache Kafka's."""
    on_effect: Callable[[int, Any], None]
    """Told of a partition's effects once they are safe."""


class _Office:
    """One partition while we lead it."""

    def __init__(self, partition: int, replica: Replica, machine: Coordinator) -> None:
        self.partition = partition
        self.replica = replica
        self.epoch = replica.leader_epoch
        self.machine = machine
        self.is_loaded = False
        self.unwritten: list[KeyValue] = []
        """Replayed already, to be appended at the end of this turn."""
        self.unwritten_bytes = 0
        self.undecided: list[Decision] = []
        """Decisions that wait for that (I3)."""
        self.held: deque[tuple[int, Decision]] = deque()
        """Decisions whose answers wait, by the offset that the high watermark must reach (I3)."""
        self.waiting: dict[Ticket, Callable[[Any], None]] = {}
        """Who is told a response, or a CoordinatorError."""
        self.timers: dict[Hashable, asyncio.TimerHandle] = {}
        self.loading: asyncio.Task[None] | None = None
        self.is_watching = False

    @property
    def is_current(self) -> bool:
        replica = self.replica
        return replica.leader is not None and replica.leader_epoch == self.epoch


class _Safe:
    """In the purgatory: everything that a decision may depend on is below the high watermark."""

    def __init__(self, host: Coordinators, office: _Office) -> None:
        self._host = host
        self._office = office

    def try_complete(self) -> bool:
        return self._host.release(self._office)

    def expire(self) -> None:
        """Not in time: who waits is told, and may ask again."""
        self._host.give_up(self._office, ErrorCode.REQUEST_TIMED_OUT)


class Coordinators:
    """See the module."""

    def __init__(
        self, kind: Kind, *, replicas: Replicas, waiting: Waiting, clock: Clock, journal: Journal
    ) -> None:
        self._kind = kind
        self._replicas = replicas
        self._waiting = waiting
        self._clock = clock
        self._journal = journal
        self._offices: dict[int, _Office] = {}
        self._image = Image()
        self._next_ticket = 0
        self._has_stopped = False
        self.timeout_ms = 5000
        """How long answers wait for the replicas."""
        self.compression = Compression.NONE

    def __len__(self) -> int:
        """How many partitions are hosted, loading ones included."""
        return len(self._offices)

    # --- questions ----------------------------------------------------------------------------

    def partition_for(self, key: str) -> int | None:
        """The partition that a group, or a transactional id, belongs to; None while there is no topic."""
        topic = self._image.topics.get(self._kind.topic)
        return partition_of(key, len(topic.partitions)) if topic else None

    def machines(self) -> list[tuple[int, Coordinator]]:
        """Everything that is loaded here, by partition."""
        return [
            (one.partition, one.machine)
            for _, one in sorted(self._offices.items())
            if one.is_loaded and one.is_current
        ]

    @property
    def is_loading(self) -> bool:
        """Whether something is not loaded yet: a list of everything would not be complete."""
        return any(not one.is_loaded for one in self._offices.values())

    # --- commands -----------------------------------------------------------------------------

    async def ask(self, key: str, request: Any, caller: Caller, *, writes: bool = True) -> Any:
        """The coordinator's response for a group or a transactional id; CoordinatorError when nobody decides here."""
        partition = self.partition_for(key)
        return await self.ask_partition(partition, request, caller, writes=writes)

    async def ask_partition(
        self, partition: int | None, request: Any, caller: Caller, *, writes: bool = True
    ) -> Any:
        """The same, of one partition."""
        waiter: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def told(response: Any) -> None:
            if waiter.done():
                return
            if isinstance(response, CoordinatorError):
                waiter.set_exception(response)
            else:
                waiter.set_result(response)

        ticket = self.submit(partition, request, caller, told, writes=writes)
        try:
            return await waiter
        finally:
            self.forget(partition, ticket)

    def submit(
        self,
        partition: int | None,
        request: Any,
        caller: Caller,
        told: Callable[[Any], None],
        *,
        writes: bool = True,
    ) -> Ticket:
        """Decide now, and tell the response, or a CoordinatorError, when it is safe; perhaps at once."""
        ticket = self._next_ticket = self._next_ticket + 1
        try:
            office = self._office(partition)
        except CoordinatorError as refusal:
            told(refusal)
            return ticket
        leader = office.replica.leader
        assert leader is not None
        if writes and leader.admit(ACKS_ALL) is not ErrorCode.NONE:
            told(CoordinatorError(ErrorCode.COORDINATOR_NOT_AVAILABLE))
            return ticket
        office.waiting[ticket] = told
        try:
            self._take(office, office.machine.command(ticket, request, caller, self._moment()))
        except BaseException:
            office.waiting.pop(ticket, None)  # whoever asked hears of it now, and once
            raise
        return ticket

    def forget(self, partition: int | None, ticket: Ticket) -> None:
        """Nobody waits for this ticket any more."""
        office = None if partition is None else self._offices.get(partition)
        if office is not None:
            office.waiting.pop(ticket, None)

    def settle(self, partition: int) -> None:
        """Append what was gathered, before a marker is: the log has the order in which all was replayed."""
        office = self._offices.get(partition)
        if office is not None:
            self._write_out(office)

    def ended(self, partition: int, producer: Producer, *, committed: bool) -> None:
        """A marker has been appended to a partition of our topic: its transaction is over."""
        office = self._offices.get(partition)
        if office is not None and office.is_loaded:
            office.machine.replay_end(producer, committed=committed)

    # --- what the metadata says ---------------------------------------------------------------

    def apply(self, image: Image, touched: Touched) -> None:
        """Roles may have changed: take offices and leave them (I1)."""
        self._image = image
        if self._has_stopped:
            return
        topic = image.topics.get(self._kind.topic)
        for partition in sorted({*self._offices, *(topic.partitions if topic else ())}):
            self._visit(partition)
        if not (touched.partitions or touched.deleted_topics):
            return
        deleted = tuple(dict.fromkeys(touched.deleted_topics.values()))
        for office in list(self._offices.values()):
            if office.is_loaded and office.is_current:
                self._take(office, office.machine.on_image(self._moment(), deleted))

    def look_again(self, partition: int) -> None:
        """Its replica came late, or is another one since it was moved: of that the metadata says nothing."""
        if not self._has_stopped:
            self._visit(partition)

    def stop(self) -> None:
        """Leave every office for good: the broker stops."""
        self._has_stopped = True
        for office in list(self._offices.values()):
            self._leave(office, ErrorCode.NOT_COORDINATOR)

    def check(self) -> None:
        """Assert the machines' invariants."""
        for _, machine in self.machines():
            machine.check()

    # --- inside: answers ----------------------------------------------------------------------

    def release(self, office: _Office) -> bool:
        """Give what is safe; True when nothing is held any more."""
        leader = office.replica.leader
        if leader is None or not office.is_current:
            self._leave(office, ErrorCode.NOT_COORDINATOR)
            return True
        while office.held and office.held[0][0] <= leader.high_watermark:
            self._give(office, office.held.popleft()[1])
        office.is_watching = bool(office.held)
        return not office.held

    def give_up(self, office: _Office, code: ErrorCode) -> None:
        """Whoever waits for replicas is told so; what was appended may still become safe."""
        office.is_watching = False
        for _, decision in office.held:
            for answer in decision.answers:
                self._tell(office, answer.ticket, CoordinatorError(code))
        office.held = deque(
            (offset, Decision(effects=decision.effects)) for offset, decision in office.held
        )
        self._watch(office)

    def _take(self, office: _Office, decision: Decision) -> None:
        """Replay, set timers, and have it written; its answers are given then, or held."""
        if decision.producer is not None and decision.records:
            self._write_out(office)
            if not self._is_here(office) or not self._append(
                office, decision.records, decision.producer
            ):
                return
        elif decision.records:
            self._gather(office, decision.records)
        self._replay(office, decision)
        for timer in decision.timers:
            self._set(office, timer)
        if not decision.answers and not decision.effects:
            return
        if office.unwritten:
            office.undecided.append(decision)
        else:
            self._hold(office, decision)
            self._watch(office)

    def _gather(self, office: _Office, records: Sequence[KeyValue]) -> None:
        """Have records appended at the end of this turn, or now if a batch would become too large."""
        size = sum(len(key) + len(value or b"") for key, value in records)
        if office.unwritten_bytes + size > BATCH_BYTES:
            self._write_out(office)
        if not office.unwritten:
            asyncio.get_running_loop().call_soon(self._write_out, office)
        office.unwritten += records
        office.unwritten_bytes += size

    def _replay(self, office: _Office, decision: Decision) -> None:
        """As if it were read from the log: where its records are, or will be."""
        first = office.replica.log.log_end_offset + len(office.unwritten) - len(decision.records)
        replay, producer = office.machine.replay, decision.producer
        for number, record in enumerate(decision.records):
            replay(record, offset=first + number, producer=producer)

    def _write_out(self, office: _Office) -> None:
        """Append what was gathered, and let answers wait for it."""
        if not office.unwritten or not self._is_here(office):
            return
        records, office.unwritten, office.unwritten_bytes = office.unwritten, [], 0
        decisions, office.undecided = office.undecided, []
        if not self._append(office, records, None):
            return
        for decision in decisions:
            self._hold(office, decision)
        self._watch(office)

    def _hold(self, office: _Office, decision: Decision) -> None:
        """Give a decision's answers when everything before them is safe (I3); at once if it is."""
        leader = office.replica.leader
        end_offset = office.replica.log.log_end_offset
        if not office.held and leader is not None and leader.high_watermark >= end_offset:
            self._give(office, decision)
        else:
            office.held.append((end_offset, decision))

    def _is_here(self, office: _Office) -> bool:
        return self._offices.get(office.partition) is office

    def _append(
        self, office: _Office, records: Sequence[KeyValue], producer: Producer | None
    ) -> bool:
        """One batch (I2)."""
        replica = office.replica
        if not office.is_current:
            self._leave(office, ErrorCode.NOT_COORDINATOR)
            return False
        now_ms = self._clock.wall_ms()
        batch = encode_pairs(
            records,
            now_ms,
            compression=self.compression,
            base_sequence=self._kind.base_sequence,
            producer_id=NO_PRODUCER_ID if producer is None else producer.producer_id,
            producer_epoch=-1 if producer is None else producer.producer_epoch,
            is_transactional=producer is not None,
        )
        try:
            outcome = self._replicas.append(
                replica,
                batch,
                now_ms=now_ms,
                monotonic_ms=self._clock.monotonic_ms(),
                from_client=False,
            )
        except StorageError as error:
            self._say(office, "could not append", reason=str(error))
            self._leave(office, ErrorCode.COORDINATOR_NOT_AVAILABLE)
            self._enter_again(office.partition)
            return False
        assert isinstance(outcome, AppendInfo), "our own batches are never duplicates"
        return True

    def _watch(self, office: _Office) -> None:
        if not office.is_watching and office.held:
            office.is_watching = True
            self._waiting.produce.watch(
                _Safe(self, office),
                [office.replica.topic_partition],
                deadline_ms=self._clock.monotonic_ms() + self.timeout_ms,
            )

    def _give(self, office: _Office, decision: Decision) -> None:
        for answer in decision.answers:
            self._tell(office, answer.ticket, answer.response)
        for effect in decision.effects:
            self._kind.on_effect(office.partition, effect)

    def _tell(self, office: _Office, ticket: Ticket, response: Any) -> None:
        told = office.waiting.pop(ticket, None)
        if told is not None:  # else it has gone away meanwhile: its connection closed
            told(response)

    # --- inside: offices ----------------------------------------------------------------------

    def _office(self, partition: int | None) -> _Office:
        if partition is None:
            raise CoordinatorError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        office = self._offices.get(partition)
        if office is None or not office.is_current:
            raise CoordinatorError(ErrorCode.NOT_COORDINATOR)
        if not office.is_loaded:
            raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return office

    def _moment(self) -> Moment:
        return Moment(self._clock.wall_ms(), self._image, self._clock.monotonic_ms())

    def _visit(self, partition: int) -> None:
        """Leave an office that is over, and take one that is ours (I1)."""
        office = self._offices.get(partition)
        if office is not None and not office.is_current:
            self._leave(office, ErrorCode.NOT_COORDINATOR)
        replica = self._replicas.get(self._kind.topic, partition)
        if partition not in self._offices and replica is not None and replica.leader is not None:
            self._enter(partition, replica)

    def _enter(self, partition: int, replica: Replica) -> None:
        office = _Office(partition, replica, self._kind.make(partition))
        self._offices[partition] = office
        if replica.log.log_start_offset == replica.log.log_end_offset:
            self._begin(office, records=0)  # there is nothing to wait for
        else:
            office.loading = asyncio.get_running_loop().create_task(
                self._load(office), name=f"load {replica.topic_partition}"
            )
            office.loading.add_done_callback(partial(self._load_ended, office))

    def _load_ended(self, office: _Office, done: asyncio.Task[None]) -> None:
        """What cannot be read is said, and nobody waits for it (I5); a mistake of ours is told to the loop too."""
        if done.cancelled() or (error := done.exception()) is None:
            return
        self._say(office, "could not be loaded", reason=f"{type(error).__name__}: {error}")
        self._leave(office, ErrorCode.NOT_COORDINATOR)
        disk_failed = isinstance(error, StorageError | OSError)
        seconds = LOAD_AGAIN_SECONDS if disk_failed else LOAD_UNREADABLE_AGAIN_SECONDS
        self._enter_again(office.partition, seconds)
        if not isinstance(error, QuireError | OSError):
            asyncio.get_running_loop().call_exception_handler(
                {"message": "a coordinator could not be loaded", "exception": error, "task": done}
            )

    def _enter_again(self, partition: int, seconds: float = LOAD_AGAIN_SECONDS) -> None:
        """After a failed append, once the disk has had a moment (I2)."""
        asyncio.get_running_loop().call_later(seconds, self.look_again, partition)

    def _leave(self, office: _Office, code: ErrorCode) -> None:
        if self._offices.get(office.partition) is not office:
            return
        del self._offices[office.partition]
        office.is_loaded = False
        if office.loading is not None:
            office.loading.cancel()
        for timer in office.timers.values():
            timer.cancel()
        office.timers.clear()
        office.held.clear()
        office.unwritten.clear()
        office.undecided.clear()
        for ticket in list(office.waiting):
            self._tell(office, ticket, CoordinatorError(code))
        self._say(office, "leaves office")

    async def _load(self, office: _Office) -> None:
        """Replay the partition, a piece at a time (I4)."""
        log = office.replica.log
        position, records = log.log_start_offset, 0
        while position < log.log_end_offset:  # markers may come meanwhile: they count as well
            found = log.read(position, max_bytes=LOAD_BYTES, upper_bound_offset=log.log_end_offset)
            if isinstance(found, OutOfRange):
                position = found.log_start_offset  # cleaning or retention moved on meanwhile
                continue
            content = found.records.read()
            before = position
            for at, header in iterate_headers(content):
                records += _replay_batch(office.machine, content, at, header)
                position = header.next_offset
            if position == before:
                break  # nothing but a gap is left
            await asyncio.sleep(0)
        self._begin(office, records=records)

    def _begin(self, office: _Office, *, records: int) -> None:
        office.is_loaded = True
        office.loading = None
        office.machine.check()
        self._say(office, "takes office", records=records)
        self._take(office, office.machine.loaded(self._moment()))

    # --- inside: timers -----------------------------------------------------------------------

    def _set(self, office: _Office, timer: Timer) -> None:
        earlier = office.timers.pop(timer.key, None)
        if earlier is not None:
            earlier.cancel()
        if timer.after_ms is not None:
            office.timers[timer.key] = asyncio.get_running_loop().call_later(
                timer.after_ms / 1000, self._on_timer, office, timer.key
            )

    def _on_timer(self, office: _Office, key: Hashable) -> None:
        office.timers.pop(key, None)
        if office.is_loaded and office.is_current:
            self._take(office, office.machine.on_timer(key, self._moment()))

    def _say(self, office: _Office, text: str, **facts: object) -> None:
        place = TopicPartition(self._kind.topic, office.partition)
        self._journal.say("coordinators", str(place), text, epoch=office.epoch, **facts)


@lru_cache(maxsize=KEYS_REMEMBERED)
def partition_of(key: str, count: int) -> int:
    """Which of `count` partitions a key belongs to: Java's hash of the string, without its sign."""
    units = key.encode("utf-16-be")
    value = 0
    for unit in struct.unpack(f">{len(units) // 2}H", units):
        value = (31 * value + unit) & 0xFFFF_FFFF
    signed = value - (1 << 32) if value >= 1 << 31 else value
    return 0 if signed == -(1 << 31) else abs(signed) % count


def _replay_batch(machine: Coordinator, content: bytes, position: int, header: BatchHeader) -> int:
    """Hand one batch to a machine that is being loaded; how many records it had."""
    records = decode_records(content, position, header) if header.record_count else []
    if header.is_control:
        for record in records:
            kind = read_control_type(record)
            if kind in (ControlType.COMMIT, ControlType.ABORT):
                producer = Producer(header.producer_id, header.producer_epoch)
                machine.replay_end(producer, committed=kind is ControlType.COMMIT)
        return 0
    owner = Producer(header.producer_id, header.producer_epoch) if header.is_transactional else None
    for record in records:
        if record.key is not None:
            machine.replay(KeyValue(record.key, record.value), offset=record.offset, producer=owner)
    return len(records)
