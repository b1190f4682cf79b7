"""The workload on a calm node, and what its producers make of each answer."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from tests.sim.scene import Scene, living

from quire.clients.errors import AnswerError
from quire.errors import ErrorCode
from quire.sim.entropy import SeededEntropy
from quire.sim.history import History, PartitionHistory, Place, Value
from quire.sim.workloads.produce_consume import ProduceConsumeWorkload, Producer, plan

PLACE = Place("topic-0", 0)


def producer(
    *, idempotent: bool, durable: bool = False
) -> tuple[Producer, PartitionHistory, History]:
    """A producer of the wanted kind, with a batch that is about to be sent."""
    partition = PartitionHistory(durable)
    history = History({PLACE: partition})
    for seed in range(100):
        found = Producer("p0", PLACE, history, SeededEntropy(seed))
        if found._is_idempotent is idempotent:
            found.draw_batch()
            return found, partition, history
    raise AssertionError("no such producer was drawn")


def test_a_calm_run_acknowledges_reads_and_keeps_everything_that_was_sent() -> None:
    async def main(scene: Scene) -> None:
        work = ProduceConsumeWorkload(scene.world(), scene.entropy.stream("work"))
        await scene.until_serving()
        calm = cast("asyncio.Task[None]", asyncio.ensure_future(asyncio.sleep(5)))
        await work.run(calm)
        work.judge()
        assert set(scene.history.topics_promised) == set(work.plan.topics)
        total = 0
        for partition in scene.history.partitions.values():
            acknowledged = {one.value for one in partition.acknowledged}
            final = [value for _, value in partition.final]
            assert acknowledged == partition.sent == set(final)
            assert len(final) == len(set(final)), "nothing was sent twice"
            assert {one.value for one in partition.seen} == partition.sent
            assert [one.offset for one in partition.seen] == list(range(len(final)))
            total += len(final)
        assert total >= work.plan.producers * work.plan.batches

    for seed in range(3):
        living(main, seed=seed)


def test_plans_differ_by_seed_and_stay_within_their_bounds() -> None:
    plans = [plan(SeededEntropy(seed)) for seed in range(60)]
    assert plans[7] == plan(SeededEntropy(7))
    assert {one.is_durable for one in plans} == {False, True}
    assert {len(one.topics) for one in plans} == {1, 2}
    assert {one.producers for one in plans} == {2, 3, 4, 5}
    assert all(20 <= one.batches < 50 for one in plans)
    assert all(1 <= count <= 3 for one in plans for count in one.topics.values())


def test_an_acknowledgement_is_noted_with_offsets_and_the_generation_of_its_sending() -> None:
    sender, partition, _ = producer(idempotent=True)
    count = len(sender._batch)
    assert sender._take(ErrorCode.NONE, 40, 2)
    assert [(one.value.number, one.offset, one.generation) for one in partition.acknowledged] == [
        (n, 40 + n, 2) for n in range(count)
    ]
    assert sender._sequence == count


def test_a_duplicate_without_an_offset_promises_nothing() -> None:
    sender, partition, _ = producer(idempotent=True)
    assert sender._take(ErrorCode.NONE, -1, 0)
    assert partition.acknowledged == []


@pytest.mark.parametrize("idempotent", [False, True])
def test_only_a_sequence_number_keeps_a_lost_answer_from_doubling(*, idempotent: bool) -> None:
    sender, partition, _ = producer(idempotent=idempotent)
    assert not sender._take(ErrorCode.REQUEST_TIMED_OUT, -1, 0)
    assert partition.may_repeat == (set() if idempotent else set(sender._batch))
    assert set(sender._batch) <= partition.sent


def test_lost_state_is_believed_only_after_a_loss_of_power_that_may_have_taken_it() -> None:
    for code in (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID):
        sender, partition, history = producer(idempotent=True)
        sender._producer_id = 5
        with pytest.raises(AnswerError):
            sender._take(code, -1, 0)
        history.generation += 1
        assert not sender._take(code, -1, 0)
        assert sender._producer_id == -1, "it begins anew"
        assert partition.may_repeat == set(sender._batch)
        safe, _, promised = producer(idempotent=True, durable=True)
        promised.generation += 1
        with pytest.raises(AnswerError):
            safe._take(code, -1, 0)


def test_an_error_that_nothing_explains_breaks_the_run() -> None:
    sender, _, _ = producer(idempotent=False)
    with pytest.raises(AnswerError, match="p0 to topic-0-0"):
        sender._take(ErrorCode.INVALID_RECORD, -1, 0)


def test_numbers_of_one_producer_go_on_from_batch_to_batch() -> None:
    sender, partition, _ = producer(idempotent=False)
    sent: list[Value] = list(sender._batch)
    for _ in range(10):
        sender.draw_batch()
        sent += sender._batch
    assert [one.number for one in sent] == list(range(len(sent)))
    assert partition.sent == set(sent)
