"""The host with a machine that counts: what it adds up is in its log, what waits is given when it is safe."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Any

import pytest
from tests.broker.storehouse import NODE, Storehouse, tell

from quire.broker import coordinators
from quire.broker.coordinators import CoordinatorError, Coordinators, Kind, partition_of
from quire.coordination import (
    Answer,
    Caller,
    Decision,
    KeyValue,
    Moment,
    Producer,
    Ticket,
    Timer,
)
from quire.errors import ErrorCode, ProtocolError
from quire.metadata.delta import Touched
from quire.protocol.messages import metadata_records as records
from quire.records.batch import iterate_headers
from quire.records.control import ControlType, encode_end_transaction_marker
from quire.storage.log_dir import HostedLog
from quire.storage.lookup import OutOfRange

TOPIC = "__counts"
ANYBODY = Caller(version=0)


class Counter:
    """Counts by key; a transactional count is pending until its end."""

    def __init__(self, partition: int) -> None:
        self.partition = partition
        self.totals: dict[bytes, int] = {}
        self.pending: dict[Producer, dict[bytes, int]] = {}
        self.deleted: list[str] = []

    def command(self, ticket: Ticket, request: Any, caller: Caller, moment: Moment) -> Decision:
        assert caller == ANYBODY
        assert moment.image is not None
        match request:
            case ("add", key, n):
                total = self.totals.get(key, 0) + n
                record = KeyValue(key, str(total).encode())
                return Decision((record,), answers=(Answer(ticket, total),), effects=(total,))
            case ("get", key):
                return Decision(answers=(Answer(ticket, self.totals.get(key, 0)),))
            case ("ring", after_ms):
                return Decision(timers=(Timer(ticket, after_ms),))
            case ("silence", other):
                return Decision(answers=(Answer(ticket, "quiet"),), timers=(Timer(other, None),))
            case ("txn", key, n, producer):
                record = KeyValue(key, str(n).encode())
                return Decision((record,), producer=producer, answers=(Answer(ticket, n),))
        raise AssertionError(request)

    def replay(self, record: KeyValue, *, offset: int, producer: Producer | None) -> None:
        assert offset >= 0
        assert record.value is not None
        where = self.totals if producer is None else self.pending.setdefault(producer, {})
        where[record.key] = int(record.value)

    def replay_end(self, producer: Producer, *, committed: bool) -> None:
        pending = self.pending.pop(producer, {})
        if committed:
            self.totals |= pending

    def on_image(self, moment: Moment, deleted_topics: tuple[str, ...]) -> Decision:
        assert moment.now_ms > 0
        self.deleted += deleted_topics
        return Decision()

    def loaded(self, moment: Moment) -> Decision:
        assert moment.now_ms > 0
        return Decision()

    def on_timer(self, key: Hashable, moment: Moment) -> Decision:
        assert isinstance(key, int)
        return Decision(answers=(Answer(key, moment.now_ms),))

    def check(self) -> None:
        assert all(total >= 0 for total in self.totals.values())


class Office:
    """A house with a host in it."""

    def __init__(self, house: Storehouse) -> None:
        self.house = house
        self.effects: list[Any] = []
        kind = Kind(
            TOPIC, Counter, 0, lambda partition, effect: self.effects.append((partition, effect))
        )
        self.host = Coordinators(
            kind,
            replicas=house.replicas,
            waiting=house.broker.waiting,
            clock=house.clock,
            journal=house.journal,
        )

    async def open(self, **options: Any) -> None:
        await self.house.topic(TOPIC, **options)
        self.host.apply(self.house.image, Touched())

    async def learn(self, *messages: Any, touched: Touched | None = None) -> None:
        await self.house.learn(*messages)
        self.host.apply(self.house.image, touched or Touched())

    def machine(self) -> Any:
        return dict(self.host.machines())[0]


async def refused(host: Coordinators, request: Any) -> ErrorCode:
    with pytest.raises(CoordinatorError) as refusal:
        await host.ask_partition(0, request, ANYBODY)
    return refusal.value.code


def append_marker(house: Storehouse, producer: Producer, kind: ControlType) -> None:
    house.replicas.append(
        house.replica(TOPIC),
        encode_end_transaction_marker(
            kind,
            coordinator_epoch=0,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            timestamp=house.clock.wall_ms(),
        ),
        now_ms=house.clock.wall_ms(),
        monotonic_ms=house.clock.monotonic_ms(),
        from_client=False,
    )


def test_a_decision_is_appended_replayed_and_answered() -> None:
    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open(partitions=3)
        assert await office.host.ask("g", ("add", b"k", 2), ANYBODY) == 2
        assert await office.host.ask("g", ("add", b"k", 3), ANYBODY) == 5
        partition = office.host.partition_for("g")
        assert partition is not None
        assert house.replica(TOPIC, partition).log.log_end_offset == 2
        assert office.effects == [(partition, 2), (partition, 5)]

    tell(story)


def test_without_its_topic_nobody_coordinates_and_elsewhere_somebody_else_does() -> None:
    async def story(house: Storehouse) -> None:
        office = Office(house)
        with pytest.raises(CoordinatorError) as refusal:
            await office.host.ask("g", ("get", b"k"), ANYBODY)
        assert refusal.value.code is ErrorCode.COORDINATOR_NOT_AVAILABLE
        await office.open(replicas=(NODE, 2), leader=2)
        assert await refused(office.host, ("get", b"k")) is ErrorCode.NOT_COORDINATOR

    tell(story)


def test_what_a_new_host_loads_is_what_the_last_one_knew() -> None:
    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open()
        producer = Producer(7, 0)
        for n in range(100):
            await office.host.ask_partition(0, ("add", b"%d" % (n % 5), n), ANYBODY)
        await office.host.ask_partition(0, ("txn", b"open", 1, producer), ANYBODY)
        again = Office(house)
        again.host.apply(house.image, Touched())
        assert await refused(again.host, ("get", b"0")) is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        assert again.host.is_loading
        await asyncio.sleep(0.1)
        assert again.machine().totals == office.machine().totals
        assert again.machine().pending == {producer: {b"open": 1}}
        again.host.check()

    tell(story)


def test_markers_end_what_was_pending_now_and_when_loaded_again() -> None:
    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open()
        for number, committed in ((7, True), (8, False)):
            producer = Producer(number, 0)
            await office.host.ask_partition(0, ("txn", b"%d" % number, 1, producer), ANYBODY)
            kind = ControlType.COMMIT if committed else ControlType.ABORT
            append_marker(house, producer, kind)
            office.host.ended(0, producer, committed=committed)
        assert (office.machine().totals, office.machine().pending) == ({b"7": 1}, {})
        again = Office(house)
        again.host.apply(house.image, Touched())
        await asyncio.sleep(0.1)
        assert (again.machine().totals, again.machine().pending) == ({b"7": 1}, {})

    tell(story)


def test_what_was_gathered_is_in_the_log_before_a_marker_is() -> None:
    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open()
        asking = asyncio.ensure_future(office.host.ask_partition(0, ("add", b"a", 1), ANYBODY))
        await asyncio.sleep(0)
        office.host.settle(0)
        assert house.replica(TOPIC).log.log_end_offset == 1
        office.host.settle(0)
        assert house.replica(TOPIC).log.log_end_offset == 1, "nothing is left to append"
        assert await asking == 1

    tell(story)


def test_a_marker_that_comes_while_the_log_is_read_ends_its_transaction_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coordinators, "LOAD_BYTES", 100)

    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open()
        producer = Producer(7, 0)
        await office.host.ask_partition(0, ("txn", b"open", 1, producer), ANYBODY)
        for n in range(50):
            await office.host.ask_partition(0, ("add", b"k", n), ANYBODY)
        again = Office(house)
        again.host.apply(house.image, Touched())
        await asyncio.sleep(0)
        assert again.host.is_loading
        append_marker(house, producer, ControlType.COMMIT)
        again.host.ended(0, producer, committed=True)
        await asyncio.sleep(1)
        assert again.machine().pending == {}
        assert again.machine().totals[b"open"] == 1

    tell(story)


def test_a_command_that_breaks_is_told_once() -> None:
    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open()
        told: list[Any] = []
        with pytest.raises(AssertionError):
            office.host.submit(0, ("strange",), ANYBODY, told.append)
        office.host.stop()
        assert told == []

    tell(story)


def test_one_turn_s_decisions_are_one_batch_but_a_transaction_has_its_own() -> None:
    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open()
        requests = [
            ("add", b"a", 1), ("add", b"b", 2), ("get", b"a"), ("txn", b"c", 3, Producer(7, 0)),
            ("add", b"a", 4), ("get", b"b"), ("add", b"b", 5),
        ]  # fmt: skip
        given = await asyncio.gather(
            *(office.host.ask_partition(0, one, ANYBODY) for one in requests)
        )
        assert given == [1, 2, 1, 3, 5, 2, 7]
        found = house.replica(TOPIC).log.read(0, max_bytes=10_000, upper_bound_offset=10)
        assert not isinstance(found, OutOfRange)
        batches = [header for _, header in iterate_headers(found.records.read())]
        assert [(one.record_count, one.is_transactional) for one in batches] == [
            (2, False), (1, True), (2, False),
        ]  # fmt: skip
        again = Office(house)
        again.host.apply(house.image, Touched())
        await asyncio.sleep(0.1)
        assert vars(again.machine()) == vars(office.machine())

    tell(story)


def test_a_turn_that_decides_more_than_a_batch_should_hold_makes_several() -> None:
    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open()
        keys = [b"%d" % n * 100_000 for n in range(10)]
        await asyncio.gather(
            *(office.host.ask_partition(0, ("add", key, 1), ANYBODY) for key in keys)
        )
        found = house.replica(TOPIC).log.read(0, max_bytes=1 << 21, upper_bound_offset=10)
        assert not isinstance(found, OutOfRange)
        counts = [header.record_count for _, header in iterate_headers(found.records.read())]
        assert counts == [5, 5]

    tell(story)


def test_answers_wait_for_the_high_watermark_reads_too_and_keep_their_order() -> None:
    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open(replicas=(NODE, 2))
        given: list[Any] = []

        async def ask(request: Any) -> None:
            given.append(await office.host.ask_partition(0, request, ANYBODY))

        asking = [asyncio.create_task(ask(one)) for one in (("add", b"k", 1), ("get", b"k"))]
        await asyncio.sleep(0.1)
        assert given == []
        replica = house.replica(TOPIC)
        leader = replica.leader
        assert leader is not None
        leader.on_follower_fetch(
            2,
            fetch_offset=1,
            log_start_offset=0,
            broker_epoch=-1,
            now_ms=house.clock.monotonic_ms(),
        )
        house.replicas.advance(replica, leader.high_watermark)
        await asyncio.gather(*asking)
        assert given == [1, 1]

    tell(story)


def test_replicas_that_stay_away_are_told_of_in_time_and_the_change_stays() -> None:
    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open(replicas=(NODE, 2))
        asking = asyncio.create_task(office.host.ask_partition(0, ("add", b"k", 1), ANYBODY))
        await asyncio.sleep(office.host.timeout_ms / 1000 + 0.1)
        house.broker.waiting.produce.expire(house.clock.monotonic_ms())
        with pytest.raises(CoordinatorError) as refusal:
            await asking
        assert refusal.value.code is ErrorCode.REQUEST_TIMED_OUT
        assert office.machine().totals == {b"k": 1}

    tell(story)


def test_losing_the_partition_tells_everybody_and_forgets_everything() -> None:
    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open(replicas=(NODE, 2))
        topic_id = house.image.topics[TOPIC].topic_id
        asking = [
            asyncio.create_task(office.host.ask_partition(0, request, ANYBODY))
            for request in (("add", b"k", 1), ("ring", 1000))
        ]
        await asyncio.sleep(0.1)
        await office.learn(
            records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=2)
        )
        for one in asking:
            with pytest.raises(CoordinatorError) as refusal:
                await one
            assert refusal.value.code is ErrorCode.NOT_COORDINATOR
        assert len(office.host) == 0

    tell(story)


def test_a_timer_rings_once_and_can_be_taken_away() -> None:
    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open()
        before = house.clock.wall_ms()
        assert await office.host.ask_partition(0, ("ring", 1500), ANYBODY) == before + 1500
        silenced = asyncio.create_task(office.host.ask_partition(0, ("ring", 1500), ANYBODY))
        await asyncio.sleep(1)
        assert await office.host.ask_partition(0, ("silence", 2), ANYBODY) == "quiet"
        await asyncio.sleep(5)
        assert not silenced.done()
        office.host.stop()
        with pytest.raises(CoordinatorError):
            await silenced

    tell(story)


def test_a_disk_without_room_costs_the_office_until_it_can_be_loaded_again() -> None:
    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open()
        assert await office.host.ask_partition(0, ("add", b"k", 1), ANYBODY) == 1
        house.disk.faults.capacity_bytes = house.disk.used_bytes
        refusal = await refused(office.host, ("add", b"k", 1))
        assert refusal is ErrorCode.COORDINATOR_NOT_AVAILABLE
        house.disk.faults.capacity_bytes = None
        await asyncio.sleep(2)
        assert await office.host.ask_partition(0, ("add", b"k", 1), ANYBODY) == 2

    tell(story)


def test_a_record_that_cannot_be_read_is_told_and_nobody_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def replay(counter: Counter, record: KeyValue, **_: object) -> None:
        raise ProtocolError("nonsense", where=str(counter.partition), position=len(record.key))

    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open()
        await office.host.ask_partition(0, ("add", b"k", 1), ANYBODY)
        again = Office(house)
        with monkeypatch.context() as patch:
            patch.setattr(Counter, "replay", replay)
            again.host.apply(house.image, Touched())
            await asyncio.sleep(1)
            assert await refused(again.host, ("get", b"k")) is ErrorCode.NOT_COORDINATOR
        assert any(
            "could not be loaded" in line and "nonsense" in line for line in house.journal.lines
        )
        await asyncio.sleep(coordinators.LOAD_UNREADABLE_AGAIN_SECONDS)
        assert await again.host.ask_partition(0, ("get", b"k"), ANYBODY) == 1

    tell(story)


def test_a_mistake_of_ours_while_loading_is_told_to_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(house: Storehouse) -> None:
        told: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, what: told.append(what))
        office = Office(house)
        await office.open()
        await office.host.ask_partition(0, ("add", b"k", 1), ANYBODY)
        again = Office(house)
        monkeypatch.delattr(Counter, "replay_end")
        append_marker(house, Producer(7, 0), ControlType.COMMIT)
        again.host.apply(house.image, Touched())
        await asyncio.sleep(0.5)
        assert await refused(again.host, ("get", b"k")) is ErrorCode.NOT_COORDINATOR
        assert [type(one["exception"]) for one in told] == [AttributeError]

    tell(story)


def test_a_replica_that_becomes_another_one_is_looked_at_without_news() -> None:
    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open()
        house.replicas.on_late = lambda place: office.host.look_again(place.partition)
        assert await office.host.ask_partition(0, ("add", b"k", 1), ANYBODY) == 1
        before = house.replica(TOPIC)

        async def the_same() -> HostedLog:
            return before.hosted

        await house.replicas.exchange(before, lambda: True, the_same)
        assert house.replica(TOPIC) is not before
        await asyncio.sleep(0.5)
        assert await office.host.ask_partition(0, ("add", b"k", 1), ANYBODY) == 2
        office.host.stop()
        office.host.look_again(0)
        assert len(office.host) == 0

    tell(story)


def test_below_the_least_in_sync_replicas_nothing_is_decided_but_reading_goes_on() -> None:
    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open(replicas=(NODE, 2), isr=(NODE,), min_insync_replicas="2")
        refusal = await refused(office.host, ("add", b"k", 1))
        assert refusal is ErrorCode.COORDINATOR_NOT_AVAILABLE
        got = await office.host.ask_partition(0, ("get", b"k"), ANYBODY, writes=False)
        assert got == 0

    tell(story)


def test_machines_learn_of_deleted_topics() -> None:
    async def story(house: Storehouse) -> None:
        office = Office(house)
        await office.open()
        await office.learn(touched=Touched(deleted_topics={bytes(16): "orders"}))
        assert office.machine().deleted == ["orders"]

    tell(story)


@pytest.mark.parametrize(
    ("key", "expected"),
    # "test".hashCode() is 3556498, "polygenelubricants" is Integer.MIN_VALUE, "group" is 98629247
    [("test", 3556498 % 50), ("polygenelubricants", 0), ("group", 98629247 % 50), ("", 0)],
)
def test_a_key_belongs_where_java_s_hash_says(key: str, expected: int) -> None:
    assert partition_of(key, 50) == expected


def test_negative_hashes_and_characters_beyond_the_plane_count_as_java_counts_them() -> None:
    # "Aa" and "BB" collide in Java; U+1F600 is two units there
    assert partition_of("Aa", 50) == partition_of("BB", 50)
    assert partition_of("\U0001f600", 1000) == (31 * 0xD83D + 0xDE00) % 1000
