"""Before a transaction's first batch: the coordinator is asked, and its word counts until a marker comes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.broker.storehouse import Storehouse, tell
from tests.broker.transacting import Desk, batch_of, produce_request

from quire.broker.internal_topics import OFFSETS, TRANSACTIONS
from quire.broker.markers import Marker, write
from quire.broker.peers import PeerUnavailableError
from quire.broker.verification import verify_offsets
from quire.errors import ErrorCode
from quire.protocol.messages import add_partitions_to_txn as adding
from quire.transactions.transaction import ProducerId
from quire.types import TopicPartition

ORDERS = TopicPartition("orders", 0)
OFFSETS_0 = TopicPartition(OFFSETS, 0)


class Elsewhere:
    """The coordinator is another broker, whose answers are these."""

    def __init__(self, *codes: ErrorCode, top: ErrorCode = ErrorCode.NONE) -> None:
        self.codes = list(codes)
        self.top = top
        self.asked: list[adding.AddPartitionsToTxnRequest] = []
        self.meanwhile: Any = None

    async def ask(self, node_id: int, request: Any) -> adding.AddPartitionsToTxnResponse:
        assert node_id == 2
        self.asked.append(request)
        await asyncio.sleep(0.001)
        if self.meanwhile is not None:
            await self.meanwhile()
        if not self.codes:
            raise PeerUnavailableError("nobody")
        code = self.codes.pop(0)
        return adding.AddPartitionsToTxnResponse(
            throttle_time_ms=0,
            error_code=self.top,
            results_by_transaction=[
                adding.AddPartitionsToTxnResult(
                    transactional_id=one.transactional_id,
                    topic_results=[
                        adding.AddPartitionsToTxnTopicResult(
                            name=topic.name,
                            results_by_partition=[
                                adding.AddPartitionsToTxnPartitionResult(
                                    partition_index=index, partition_error_code=code
                                )
                                for index in topic.partitions
                            ],
                        )
                        for topic in one.topics
                    ],
                )
                for one in request.transactions
            ],
        )


ME = ProducerId(7, 0)


def test_newer_producers_partitions_are_added_by_their_leader_with_the_first_batch() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        me = await desk.begin()
        assert await desk.produce("t", me) is ErrorCode.NONE
        machine: Any = dict(desk.host.machines())[desk.host.partition_for("t")]
        assert machine.transactions["t"].partitions == (ORDERS,)
        assert machine.transactions["t"].client_version == 2
        end = house.replica(TRANSACTIONS, desk.host.partition_for("t") or 0).log.log_end_offset
        assert await desk.produce("t", me, sequence=1) is ErrorCode.NONE
        log = house.replica(TRANSACTIONS, desk.host.partition_for("t") or 0).log
        assert log.log_end_offset == end, "the second batch asks nobody"

    tell(story)


def test_older_producers_must_have_added_theirs() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        me = await desk.begin()
        assert await desk.produce("t", me, version=11) is ErrorCode.TRANSACTION_ABORTABLE
        assert await desk.produce("t", me, version=10) is ErrorCode.INVALID_TXN_STATE
        assert desk.end_offset() == 0
        assert await desk.add("t", me, ORDERS) == [ErrorCode.NONE]
        assert await desk.produce("t", me, version=10) is ErrorCode.NONE
        assert desk.end_offset() == 1

    tell(story)


def test_without_verification_older_producers_are_believed_newer_ones_still_added() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        assert await desk.produce("t", ME, version=10) is ErrorCode.NONE
        refused = await desk.produce("t", ProducerId(8, 0), version=12)
        assert refused is ErrorCode.INVALID_PRODUCER_ID_MAPPING

    tell(story, transaction_partition_verification_enable="false")


def test_a_fenced_producer_is_told_so_in_words_that_producers_know() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        old = await desk.begin()
        new = await desk.begin()
        assert await desk.produce("t", old) is ErrorCode.INVALID_PRODUCER_EPOCH
        assert await desk.produce("t", new) is ErrorCode.NONE
        assert await desk.produce("t", old) is ErrorCode.INVALID_PRODUCER_EPOCH

    tell(story)


def test_a_newer_producers_first_sequence_is_0() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        me = await desk.begin()
        refused = await desk.produce("t", me, sequence=3)
        assert refused is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        assert await desk.produce("t", me, sequence=0) is ErrorCode.NONE

    tell(story)


def test_batches_outside_of_transactions_ask_nobody() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        code = await desk.produce(None, ME, transactional=False)
        assert code is ErrorCode.NONE
        refused = await desk.produce(None, ME, sequence=1)
        assert refused is ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED

    tell(story)


def test_one_request_has_one_producer() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        me = await desk.begin()
        batches = {0: bytes(batch_of(me, 0)), 1: bytes(batch_of(ProducerId(9, 0), 0))}
        answer = await desk.ask(produce_request("t", "orders", batches), 12)
        assert [one.error_code for one in answer.responses[0].partition_responses] == [
            ErrorCode.INVALID_PRODUCER_ID_MAPPING
        ] * 2

    tell(story)


@pytest.mark.parametrize(
    ("said", "version", "heard"),
    [
        (ErrorCode.NONE, 12, ErrorCode.NONE),
        (ErrorCode.NONE, 10, ErrorCode.NONE),
        (ErrorCode.TRANSACTION_ABORTABLE, 11, ErrorCode.TRANSACTION_ABORTABLE),
        (ErrorCode.TRANSACTION_ABORTABLE, 10, ErrorCode.INVALID_TXN_STATE),
        (ErrorCode.PRODUCER_FENCED, 10, ErrorCode.INVALID_PRODUCER_EPOCH),
        (ErrorCode.CONCURRENT_TRANSACTIONS, 11, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.NOT_COORDINATOR, 12, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.INVALID_PRODUCER_ID_MAPPING, 12, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
    ],
)
def test_a_coordinator_elsewhere_is_asked_over_the_network(
    said: ErrorCode, version: int, heard: ErrorCode
) -> None:
    async def story(house: Storehouse) -> None:
        peers = Elsewhere(said)
        desk = await Desk.open(house, peers=peers, leader=2)
        assert await desk.produce("t", ME, version=version) is heard
        (asked,) = peers.asked[0].transactions
        assert (asked.transactional_id, asked.producer_id, asked.producer_epoch) == ("t", 7, 0)
        assert asked.verify_only is (version < 12)
        assert desk.end_offset() == (1 if said is ErrorCode.NONE else 0)

    tell(story)


def test_a_coordinator_that_cannot_be_asked_is_asked_again_by_the_producer() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house, peers=Elsewhere(), leader=2)
        assert await desk.produce("t", ME) is ErrorCode.NOT_ENOUGH_REPLICAS
        whole = Elsewhere(ErrorCode.NONE, top=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        desk.broker.peers = whole
        assert await desk.produce("t", ME) is ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        del desk.broker.hosts[TRANSACTIONS]
        assert await desk.produce("t", ME) is ErrorCode.NOT_ENOUGH_REPLICAS

    tell(story)


def test_while_the_last_transaction_ends_an_addition_is_tried_again_for_a_moment() -> None:
    async def story(house: Storehouse) -> None:
        pending = [ErrorCode.CONCURRENT_TRANSACTIONS] * 3
        peers = Elsewhere(*pending, ErrorCode.NONE)
        desk = await Desk.open(house, peers=peers, leader=2)
        assert await desk.produce("t", ME) is ErrorCode.NONE
        assert len(peers.asked) == 4
        peers.codes = [ErrorCode.CONCURRENT_TRANSACTIONS] * 99
        refused = await desk.produce("t", ME, partition=1)
        assert refused is ErrorCode.CONCURRENT_TRANSACTIONS
        assert 4 <= len(peers.asked) - 4 <= 6, "100 ms, every 20"

    tell(story)


def test_a_marker_between_the_answer_and_the_append_takes_the_answer_back() -> None:
    async def story(house: Storehouse) -> None:
        peers = Elsewhere(ErrorCode.NONE, ErrorCode.NONE)
        desk = await Desk.open(house, peers=peers, leader=2)

        async def marker_comes() -> None:
            marker = Marker(7, 0, False, 0, 0)
            assert await write(desk.broker, [(marker, ORDERS)], timeout_ms=100) == [ErrorCode.NONE]

        peers.meanwhile = marker_comes
        assert await desk.produce("t", ME, version=10) is ErrorCode.INVALID_TXN_STATE
        assert desk.end_offset() == 1, "the marker only"
        peers.meanwhile = None
        assert await desk.produce("t", ME, version=10) is ErrorCode.NONE

    tell(story)


def test_of_batches_that_are_verified_at_once_the_first_comes_first() -> None:
    async def story(house: Storehouse) -> None:
        peers = Elsewhere(ErrorCode.NOT_COORDINATOR, ErrorCode.NONE, ErrorCode.NONE)
        desk = await Desk.open(house, peers=peers, leader=2)
        first, second = await asyncio.gather(
            desk.produce("t", ME, version=10, sequence=0),
            desk.produce("t", ME, version=10, sequence=1),
        )
        assert first is ErrorCode.NOT_ENOUGH_REPLICAS
        assert second is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        assert await desk.produce("t", ME, version=10, sequence=0) is ErrorCode.NONE
        assert await desk.produce("t", ME, version=10, sequence=1) is ErrorCode.NONE

    tell(story)


# --- offsets ----------------------------------------------------------------------------------


async def offsets(desk: Desk, me: ProducerId, *, version: int) -> ErrorCode:
    return await verify_offsets(desk.broker, "t", me, OFFSETS_0, version=version)


def test_a_groups_offsets_are_added_for_newer_producers_and_verified_for_older_ones() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        await house.topic(OFFSETS)
        me = await desk.begin()
        assert await offsets(desk, me, version=4) is ErrorCode.TRANSACTION_ABORTABLE
        assert await offsets(desk, me, version=3) is ErrorCode.INVALID_TXN_STATE
        assert await offsets(desk, me, version=5) is ErrorCode.NONE
        assert await offsets(desk, me, version=3) is ErrorCode.NONE
        fenced = ProducerId(me.producer_id, me.epoch + 1)
        assert await offsets(desk, fenced, version=5) is ErrorCode.INVALID_PRODUCER_EPOCH

    tell(story)


def test_what_groups_do_not_know_is_told_them_in_their_words() -> None:
    async def story(house: Storehouse) -> None:
        said = [ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.NOT_COORDINATOR]
        desk = await Desk.open(house, peers=Elsewhere(*said), leader=2)
        assert await offsets(desk, ME, version=4) is ErrorCode.NOT_COORDINATOR, "no such partition"
        await house.topic(OFFSETS)
        assert await offsets(desk, ME, version=4) is ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert await offsets(desk, ME, version=5) is ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert await offsets(desk, ME, version=5) is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    tell(story)


def test_a_marker_takes_back_what_was_said_of_offsets_too() -> None:
    async def story(house: Storehouse) -> None:
        peers = Elsewhere(ErrorCode.NONE, ErrorCode.NONE)
        desk = await Desk.open(house, peers=peers, leader=2)
        await house.topic(OFFSETS)

        async def marker_comes() -> None:
            marker = Marker(7, 0, False, 0, 0)
            await write(desk.broker, [(marker, OFFSETS_0)], timeout_ms=100)

        peers.meanwhile = marker_comes
        assert await offsets(desk, ME, version=4) is ErrorCode.INVALID_TXN_STATE
        peers.meanwhile = None
        assert await offsets(desk, ME, version=4) is ErrorCode.NONE

    tell(story)


def test_without_verification_older_producers_offsets_are_believed() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        await house.topic(OFFSETS)
        assert await offsets(desk, ME, version=4) is ErrorCode.NONE

    tell(story, transaction_partition_verification_enable="false")
