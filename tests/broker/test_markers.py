"""Markers on their way: checked, appended, carried until every partition has them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.broker.storehouse import NODE, Storehouse, tell
from tests.broker.transacting import Desk

from quire.broker.deadlines import Deadlines
from quire.broker.internal_topics import TRANSACTIONS
from quire.broker.markers import Marker, request_of, write
from quire.broker.peers import PeerUnavailableError
from quire.coordination import Producer
from quire.errors import ErrorCode
from quire.protocol.messages import metadata_records as records
from quire.protocol.messages import write_txn_markers as wire
from quire.records.batch import decode_records, iterate_headers
from quire.records.control import read_end_transaction_marker
from quire.transactions.states import State
from quire.transactions.transaction import ProducerId, Transaction
from quire.types import TopicPartition

ORDERS = TopicPartition("orders", 0)


def transaction(desk: Desk, name: str = "t") -> Transaction:
    machine: Any = dict(desk.host.machines())[desk.host.partition_for(name)]
    found: Transaction = machine.transactions[name]
    return found


def markers(house: Storehouse, partition: int = 0) -> list[tuple[int, int, bool, int]]:
    """(producer id, epoch, committed, coordinator's epoch) of each in the log."""
    log = house.replica("orders", partition).log
    content = log.read(0, max_bytes=1 << 20, upper_bound_offset=log.log_end_offset).records.read()  # type: ignore[union-attr]
    found = []
    for at, header in iterate_headers(content):
        if header.is_control:
            (record,) = decode_records(content, at, header)
            marker = read_end_transaction_marker(record)
            found.append(
                (
                    header.producer_id,
                    header.producer_epoch,
                    marker.committed,
                    marker.coordinator_epoch,
                )
            )
    return found


class Other:
    """Broker 2: refuses at first, then takes every marker."""

    def __init__(self, *refusals: ErrorCode) -> None:
        self.refusals = list(refusals)
        self.away = 0
        self.asked: list[wire.WriteTxnMarkersRequest] = []

    async def ask(self, node_id: int, request: Any) -> wire.WriteTxnMarkersResponse:
        assert node_id == 2
        await asyncio.sleep(0.001)
        if self.away:
            self.away -= 1
            raise PeerUnavailableError("away")
        self.asked.append(request)
        code = self.refusals.pop(0) if self.refusals else ErrorCode.NONE
        return wire.WriteTxnMarkersResponse(
            markers=[
                wire.WritableTxnMarkerResult(
                    producer_id=one.producer_id,
                    topics=[
                        wire.WritableTxnMarkerTopicResult(
                            name=topic.name,
                            partitions=[
                                wire.WritableTxnMarkerPartitionResult(
                                    partition_index=index, error_code=code
                                )
                                for index in topic.partition_indexes
                            ],
                        )
                        for topic in one.topics
                    ],
                )
                for one in request.markers
            ]
        )


async def elsewhere(house: Storehouse, name: str, leader: int = 2) -> None:
    await house.topic(name, replicas=(leader,), leader=leader)


@pytest.mark.parametrize("committed", [True, False])
def test_every_partition_gets_its_marker_and_then_the_end_is_complete(committed: bool) -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        me = await desk.begin()
        for partition in (0, 1):
            assert await desk.produce("t", me, partition=partition) is ErrorCode.NONE
        code, goes_on = await desk.end("t", me, committed=committed)
        assert (code, goes_on) == (ErrorCode.NONE, ProducerId(101, 1))
        await desk.settle()
        assert markers(house, 0) == markers(house, 1) == [(101, 1, committed, 0)]
        state = State.COMPLETE_COMMIT if committed else State.COMPLETE_ABORT
        assert (transaction(desk).state, transaction(desk).partitions) == (state, ())
        assert (desk.stable_offset(), len(desk.markers)) == (2, 0)

    tell(story)


def test_older_producers_keep_their_epoch() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        me = await desk.begin()
        for _ in range(2):
            await desk.add("t", me, ORDERS)
            sequence = desk.end_offset() // 2
            code = await desk.produce("t", me, version=10, sequence=sequence)
            assert code is ErrorCode.NONE
            assert (await desk.end("t", me, version=4))[0] is ErrorCode.NONE
            await desk.settle()
        assert markers(house) == [(101, 0, True, 0), (101, 0, True, 0)]

    tell(story)


def test_other_leaders_are_asked_until_they_have_taken_it() -> None:
    async def story(house: Storehouse) -> None:
        other = Other(ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_ENOUGH_REPLICAS)
        other.away = 2
        desk = await Desk.open(house, peers=other)
        await elsewhere(house, "far")
        me = await desk.begin()
        await desk.add("t", me, ORDERS, ("far", 0))
        assert (await desk.end("t", me, version=4))[0] is ErrorCode.NONE
        await asyncio.sleep(0.01)
        assert transaction(desk).state is State.PREPARE_COMMIT
        assert len(desk.markers) == 1
        await desk.settle()
        assert transaction(desk).state is State.COMPLETE_COMMIT
        assert len(other.asked) == 3
        (asked,) = other.asked[0].markers
        assert (asked.producer_id, asked.producer_epoch, asked.transaction_result) == (101, 0, True)
        assert [(one.name, one.partition_indexes) for one in asked.topics] == [("far", [0])]
        assert markers(house) == [(101, 0, True, 0)], "those that have it are not told again"

    tell(story)


def test_a_partition_without_a_leader_is_waited_for() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        await elsewhere(house, "lost", leader=-1)
        me = await desk.begin()
        await desk.add("t", me, ("lost", 0))
        await desk.end("t", me, version=4)
        await asyncio.sleep(0.5)
        assert transaction(desk).state is State.PREPARE_COMMIT
        topic_id = house.image.topics["lost"].topic_id
        await house.learn(records.RemoveTopicRecord(topic_id=topic_id))
        await desk.settle()
        assert transaction(desk).state is State.COMPLETE_COMMIT, "gone with its topic"

    tell(story)


@pytest.mark.parametrize(
    "code", [ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED]
)
def test_a_partition_that_has_seen_somebody_newer_ends_it(code: ErrorCode) -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house, peers=Other(code))
        await elsewhere(house, "far")
        me = await desk.begin()
        await desk.add("t", me, ("far", 0))
        await desk.end("t", me, version=4)
        await desk.settle()
        assert transaction(desk).state is State.PREPARE_COMMIT
        assert any("has been overtaken" in line for line in house.journal.lines)

    tell(story)


def test_a_coordinator_that_takes_over_sends_what_was_decided_again() -> None:
    async def story(house: Storehouse) -> None:
        other = Other(*[ErrorCode.REQUEST_TIMED_OUT] * 1000)
        desk = await Desk.open(house, peers=other)
        await elsewhere(house, "far")
        me = await desk.begin()
        await desk.produce("t", me)
        await desk.add("t", me, ("far", 0))
        await desk.end("t", me)
        await asyncio.sleep(0.3)
        partition = desk.host.partition_for("t")
        assert partition is not None
        await house.learn(
            records.PartitionChangeRecord(
                partition_id=partition,
                topic_id=house.image.topics[TRANSACTIONS].topic_id,
                leader=NODE,
            )
        )
        desk.catch_up()
        other.refusals.clear()
        await asyncio.sleep(0.3)
        await desk.settle()
        assert transaction(desk).state is State.COMPLETE_COMMIT
        assert markers(house) == [(101, 1, True, 0), (101, 1, True, 1)]
        assert other.asked[-1].markers[0].coordinator_epoch == 1
        assert desk.stable_offset() == desk.end_offset()

    tell(story)


def test_a_second_producer_and_a_timeout_abort_what_is_open() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        old = await desk.begin()
        assert await desk.produce("t", old) is ErrorCode.NONE
        new = await desk.begin()
        assert (markers(house), new) == ([(101, 1, False, 0)], ProducerId(101, 2))
        assert await desk.produce("t", new) is ErrorCode.NONE
        assert (await desk.end("t", old, version=4))[0] is ErrorCode.PRODUCER_FENCED
        await asyncio.sleep(75)
        assert markers(house)[1:] == [(101, 3, False, 0)]
        assert transaction(desk).state is State.COMPLETE_ABORT
        assert (await desk.end("t", new, version=4))[0] is ErrorCode.PRODUCER_FENCED

    tell(story)


# --- one append -------------------------------------------------------------------------------


async def written(house: Storehouse, marker: Marker, place: TopicPartition = ORDERS) -> ErrorCode:
    (code,) = await write(house.broker, [(marker, place)], timeout_ms=1000)
    return code


def test_what_cannot_be_written_here_is_said_so() -> None:
    async def story(house: Storehouse) -> None:
        await Desk.open(house)
        await elsewhere(house, "far")
        marker = Marker(7, 0, True, 0, 0)
        place = TopicPartition("far", 0)
        assert await written(house, marker, place) is ErrorCode.NOT_LEADER_OR_FOLLOWER
        nowhere = TopicPartition("nowhere", 0)
        assert await written(house, marker, nowhere) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    tell(story)


def test_epochs_of_producers_and_coordinators_do_not_go_back() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        me = await desk.begin()
        assert await desk.produce("t", me) is ErrorCode.NONE
        same, next_one = Marker(101, 0, True, 5, 2), Marker(101, 1, True, 5, 2)
        assert await written(house, same) is ErrorCode.INVALID_PRODUCER_EPOCH
        assert await written(house, next_one) is ErrorCode.NONE
        assert await written(house, next_one) is ErrorCode.NONE, "a repeat does no harm"
        assert await written(house, same) is ErrorCode.INVALID_PRODUCER_EPOCH
        late = next_one._replace(coordinator_epoch=4)
        assert await written(house, late) is ErrorCode.TRANSACTION_COORDINATOR_FENCED

    tell(story)


def test_replicas_are_waited_for_and_a_lost_leadership_is_told() -> None:
    async def story(house: Storehouse) -> None:
        desk = Desk(house, Other())
        deadlines = Deadlines([one for _, one in house.broker.waiting.all()], house.clock)
        topic_id = await house.topic("orders", replicas=(NODE, 2), min_insync_replicas="2")
        marker = Marker(7, 0, True, 0, 0)
        assert await written(house, marker) is ErrorCode.REQUEST_TIMED_OUT
        assert desk.end_offset() == 1
        waiting = asyncio.ensure_future(written(house, marker))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        await house.learn(
            records.PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=2)
        )
        assert await waiting is ErrorCode.NOT_LEADER_OR_FOLLOWER
        deadlines.stop()

    tell(story)


def test_too_few_replicas_take_nothing() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders", replicas=(NODE, 2), isr=(NODE,), min_insync_replicas="2")
        assert await written(house, Marker(7, 0, True, 0, 0)) is ErrorCode.NOT_ENOUGH_REPLICAS

    tell(story)


def test_whoever_keeps_the_topic_is_told_of_the_end() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        told: list[tuple[int, Producer, bool]] = []
        ends_before: list[int] = []

        class Keeper:
            def settle(self, partition: int) -> None:
                replica = desk.broker.replicas.get("orders", partition)
                assert replica is not None
                ends_before.append(replica.log.log_end_offset)

            def ended(self, partition: int, producer: Producer, *, committed: bool) -> None:
                told.append((partition, producer, committed))

        desk.broker.hosts["orders"] = Keeper()  # type: ignore[assignment]
        await written(house, Marker(7, 3, False, 0, 0), TopicPartition("orders", 1))
        assert told == [(1, Producer(7, 3), False)]
        assert ends_before == [0], "what it has gathered must be in the log before the marker"

    tell(story)


def test_a_request_to_another_broker_names_each_topic_once() -> None:
    places = [TopicPartition("a", 1), TopicPartition("b", 0), TopicPartition("a", 2)]
    (marker,) = request_of(Marker(7, 3, True, 4, 2), places).markers
    assert [(one.name, one.partition_indexes) for one in marker.topics] == [
        ("a", [1, 2]),
        ("b", [0]),
    ]
    assert (marker.coordinator_epoch, marker.transaction_version) == (4, 2)
