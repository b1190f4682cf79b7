"""Each law on histories that keep it, and on histories that break it in one place."""

from __future__ import annotations

import pytest

from quire.sim.history import Acknowledged, History, PartitionHistory, Place, Seen, Value
from quire.sim.laws import BrokenLawError, judge

A, B, C = Value("p0", 0), Value("p0", 1), Value("p1", 0)
PLACE = Place("topic", 0)


def kept(*, is_durable: bool = False, generation: int = 0) -> tuple[History, PartitionHistory]:
    partition = PartitionHistory(is_durable)
    partition.sent = {A, B, C}
    partition.acknowledged = [Acknowledged(A, 0, 0), Acknowledged(B, 1, 0)]
    partition.seen = [Seen(0, A, 0), Seen(1, B, 0)]
    partition.final = [(0, A), (1, B), (2, C)]
    history = History({PLACE: partition}, {"topic": "512"}, {"topic": "512"}, generation)
    return history, partition


def broken(history: History) -> str:
    with pytest.raises(BrokenLawError) as refused:
        judge(history)
    return str(refused.value)


def test_a_history_without_fault_is_accepted() -> None:
    judge(kept()[0])


def test_an_acknowledged_record_that_is_gone_is_lost() -> None:
    history, partition = kept()
    partition.final = [(0, A)]
    assert "L1" in broken(history)


def test_an_acknowledged_record_at_another_offset_is_lost() -> None:
    history, partition = kept()
    partition.final = [(0, A), (1, C), (2, B)]
    assert "L1" in broken(history)


def test_a_power_loss_may_take_what_was_acknowledged_before_it() -> None:
    history, partition = kept(generation=1)
    partition.final = [(0, C)]
    judge(history)


def test_a_power_loss_may_not_take_what_was_promised_to_be_durable() -> None:
    history, partition = kept(is_durable=True, generation=1)
    partition.final = [(0, A)]
    assert "L1" in broken(history)


def test_a_reader_and_the_log_agree_about_every_offset() -> None:
    history, partition = kept()
    partition.seen.append(Seen(2, B, 0))
    assert "L2" in broken(history)


def test_a_record_twice_is_told_unless_it_was_sent_without_a_sequence() -> None:
    history, partition = kept()
    partition.final.append((3, B))
    assert "L3" in broken(history)
    partition.may_repeat.add(B)
    judge(history)


def test_records_of_a_producer_keep_their_order() -> None:
    history, partition = kept()
    partition.acknowledged.clear()
    partition.seen.clear()
    partition.final = [(0, B), (1, A)]
    assert "L3" in broken(history)


def test_what_nobody_sent_is_told() -> None:
    history, partition = kept()
    partition.final.append((3, Value("p7", 0)))
    assert "L4" in broken(history)


def test_a_gap_is_told() -> None:
    history, partition = kept()
    partition.final[2] = (3, C)
    assert "L5" in broken(history)


def test_a_topic_that_was_promised_keeps_its_settings() -> None:
    history, _ = kept()
    history.topics_found = {"topic": "1024"}
    assert "L6" in broken(history)
    history.topics_found = {}
    assert "L6" in broken(history)
