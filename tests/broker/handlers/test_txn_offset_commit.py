from __future__ import annotations

import pytest
from tests.broker import transacting as transactions
from tests.broker.group_desk import Desk, at_desk
from tests.broker.storehouse import NODE

from quire.broker.internal_topics import OFFSETS, TRANSACTIONS
from quire.broker.peers import Nobody
from quire.errors import ErrorCode
from quire.groups.coordinator import GroupCoordinator
from quire.protocol.messages import metadata_records as records
from quire.protocol.messages import txn_offset_commit as transacting
from quire.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from quire.records.batch import iterate_headers
from quire.transactions.transaction import ProducerId

IMPLICIT_SINCE = 5
"""Before it the producer says itself that offsets will follow."""


async def begun(desk: Desk, version: int) -> ProducerId:
    """A transaction in which offsets of the group may be committed."""
    house = desk.house
    house.broker.hosts[OFFSETS] = house.broker.groups
    other = transactions.Desk(house, Nobody())
    await house.learn(records.FeatureLevelRecord(name="transaction.version", feature_level=2))
    await house.topic(TRANSACTIONS, partitions=2, replicas=(NODE,), leader=NODE)
    other.catch_up()
    me = await other.begin("tx")
    if version < IMPLICIT_SINCE:
        request = AddOffsetsToTxnRequest(
            transactional_id="tx",
            producer_id=me.producer_id,
            producer_epoch=me.epoch,
            group_id="g",
        )
        assert (await other.ask(request, 3)).error_code == ErrorCode.NONE
    return me


def asked(
    *topics: str, producer: ProducerId, generation: int = -1
) -> transacting.TxnOffsetCommitRequest:
    return transacting.TxnOffsetCommitRequest(
        transactional_id="tx",
        group_id="g",
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        generation_id=generation,
        topics=[
            transacting.TxnOffsetCommitRequestTopic(
                name=name,
                partitions=[
                    transacting.TxnOffsetCommitRequestPartition(
                        partition_index=0, committed_offset=5, committed_metadata=None
                    )
                ],
            )
            for name in topics
        ],
    )


@pytest.mark.parametrize("version", range(6))
def test_offsets_are_pending_in_a_batch_of_the_transaction(version: int) -> None:
    async def story(desk: Desk) -> None:
        me = await begun(desk, version)
        answer = await desk.ask(asked("orders", producer=me), version)
        assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE
        partition = desk.house.broker.groups.partition_for("g")
        assert partition is not None
        machine = dict(desk.house.broker.groups.machines())[partition]
        assert isinstance(machine, GroupCoordinator)
        assert (machine.stored.offsets, list(machine.stored.pending)) == ({}, [me.producer_id])
        found = desk.house.replica(OFFSETS, partition).log.read(
            0, max_bytes=10_000, upper_bound_offset=10
        )
        ((_, header),) = iterate_headers(found.records.read())  # type: ignore[union-attr]
        assert (header.producer_id, header.producer_epoch, header.base_sequence) == (*me, 0)
        assert header.is_transactional

    at_desk(story)


@pytest.mark.parametrize("version", range(6))
def test_a_fenced_producers_offsets_are_not_taken(version: int) -> None:
    async def story(desk: Desk) -> None:
        me = await begun(desk, version)
        older = me._replace(epoch=me.epoch - 1) if me.epoch else ProducerId(me.producer_id + 1, 0)
        answer = await desk.ask(asked("orders", producer=older), version)
        assert answer.topics[0].partitions[0].error_code in (
            ErrorCode.INVALID_PRODUCER_ID_MAPPING,
            ErrorCode.INVALID_PRODUCER_EPOCH,
            ErrorCode.PRODUCER_FENCED,
            ErrorCode.INVALID_TXN_STATE,
            ErrorCode.TRANSACTION_ABORTABLE,
        )
        (machine,) = [
            machine
            for _, machine in desk.house.broker.groups.machines()
            if isinstance(machine, GroupCoordinator) and machine.stored.pending
        ] or [None]
        assert machine is None, "nothing is pending"

    at_desk(story)


def test_topics_that_are_not_there_are_refused_and_the_others_kept() -> None:
    async def story(desk: Desk) -> None:
        me = await begun(desk, 5)
        answer = await desk.ask(asked("strange", "orders", producer=me), 5)
        codes = [(one.name, one.partitions[0].error_code) for one in answer.topics]
        assert codes == [("strange", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), ("orders", 0)]
        alone = await desk.ask(asked("strange", producer=me), 5)
        assert len(alone.topics) == 1

    at_desk(story)


@pytest.mark.parametrize(
    ("version", "code"),
    [
        (1, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (2, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
    ],
)
def test_the_oldest_producers_do_not_know_that_a_coordinator_may_be_loading(
    version: int, code: ErrorCode
) -> None:
    async def story(desk: Desk) -> None:
        me = await begun(desk, version)
        await desk.commit(1)
        desk.take_over()
        answer = await desk.ask(asked("orders", producer=me), version)
        assert answer.topics[0].partitions[0].error_code == code

    at_desk(story)


def test_a_generation_that_is_not_there_is_refused() -> None:
    async def story(desk: Desk) -> None:
        me = await begun(desk, 3)
        answer = await desk.ask(asked("orders", producer=me, generation=4), 3)
        assert answer.topics[0].partitions[0].error_code == ErrorCode.ILLEGAL_GENERATION

    at_desk(story)
