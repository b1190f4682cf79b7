from __future__ import annotations

import pytest
from tests.broker.group_desk import Desk, at_desk

from quire.broker.internal_topics import OFFSETS
from quire.errors import ErrorCode
from quire.groups.coordinator import GroupCoordinator
from quire.protocol.messages import txn_offset_commit as transacting
from quire.records.batch import iterate_headers


def asked(*topics: str, generation: int = -1) -> transacting.TxnOffsetCommitRequest:
    return transacting.TxnOffsetCommitRequest(
        transactional_id="tx",
        group_id="g",
        producer_id=7,
        producer_epoch=3,
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
        answer = await desk.ask(asked("orders"), version)
        assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE
        partition = desk.house.broker.groups.partition_for("g")
        assert partition is not None
        machine = dict(desk.house.broker.groups.machines())[partition]
        assert isinstance(machine, GroupCoordinator)
        assert (machine.stored.offsets, list(machine.stored.pending)) == ({}, [7])
        found = desk.house.replica(OFFSETS, partition).log.read(
            0, max_bytes=10_000, upper_bound_offset=10
        )
        ((_, header),) = iterate_headers(found.records.read())  # type: ignore[union-attr]
        assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 3, 0)
        assert header.is_transactional

    at_desk(story)


def test_topics_that_are_not_there_are_refused_and_the_others_kept() -> None:
    async def story(desk: Desk) -> None:
        answer = await desk.ask(asked("strange", "orders"), 5)
        codes = [(one.name, one.partitions[0].error_code) for one in answer.topics]
        assert codes == [("strange", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), ("orders", 0)]
        alone = await desk.ask(asked("strange"), 5)
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
        await desk.commit(1)
        desk.take_over()
        answer = await desk.ask(asked("orders"), version)
        assert answer.topics[0].partitions[0].error_code == code

    at_desk(story)


def test_a_generation_that_is_not_there_is_refused() -> None:
    async def story(desk: Desk) -> None:
        answer = await desk.ask(asked("orders", generation=4), 3)
        assert answer.topics[0].partitions[0].error_code == ErrorCode.ILLEGAL_GENERATION

    at_desk(story)
