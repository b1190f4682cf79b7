from __future__ import annotations

import pytest

from quire.transactions.states import State
from quire.transactions.transaction import (
    EPOCH_MAX,
    LAST_EPOCH,
    NO_EPOCH,
    ProducerId,
    Transaction,
)
from quire.types import TopicPartition

A, B = TopicPartition("a", 0), TopicPartition("b", 3)


def new(epoch: int = 0) -> Transaction:
    fresh = Transaction(7, NO_EPOCH, 1000)
    return fresh.begun(7, epoch, timeout_ms=1000, now_ms=10)


def ongoing(epoch: int = 0, version: int = 0) -> Transaction:
    return new(epoch).with_partitions((B, A), client_version=version, now_ms=20)


def ended(one: Transaction, *, committed: bool, version: int, next_id: int = -1) -> Transaction:
    return one.ending(
        committed=committed, client_version=version, next_producer_id=next_id, now_ms=30
    )


def test_partitions_are_kept_in_order_each_once_and_the_start_stays() -> None:
    one = ongoing()
    again = one.with_partitions((A, TopicPartition("a", 1)), client_version=0, now_ms=25)
    assert again.partitions == (A, TopicPartition("a", 1), B)
    assert (again.started_ms, again.updated_ms) == (20, 25)
    again.check()


def test_a_commit_keeps_the_epoch_in_version_1_and_bumps_it_in_version_2() -> None:
    old = ended(ongoing(), committed=True, version=0).completed(40)
    assert (old.state, old.epoch, old.partitions, old.started_ms) == (
        State.COMPLETE_COMMIT,
        0,
        (),
        20,
    )
    decided = ended(ongoing(version=2), committed=True, version=2)
    assert (decided.state, decided.epoch, decided.partitions) == (State.PREPARE_COMMIT, 1, (A, B))
    assert decided.when_complete == ProducerId(7, 1)
    assert decided.completed(40).epoch == 1


def test_when_the_epochs_are_used_up_the_next_id_takes_over_at_the_end() -> None:
    one = ongoing(LAST_EPOCH, version=2)
    assert one.is_exhausted
    decided = ended(one, committed=False, version=2, next_id=99)
    assert (decided.producer_id, decided.epoch, decided.next_producer_id) == (7, EPOCH_MAX, 99)
    assert decided.when_complete == ProducerId(99, 0)
    done = decided.completed(40)
    assert (done.state, done.producer_id, done.epoch) == (State.COMPLETE_ABORT, 99, 0)
    assert (done.previous_producer_id, done.next_producer_id) == (7, -1)


@pytest.mark.parametrize("version", [0, 2])
def test_fencing_bumps_the_epoch_once_whatever_the_version(version: int) -> None:
    fenced = ongoing(4, version).fenced(client_version=version, now_ms=50)
    assert (fenced.state, fenced.epoch, fenced.partitions) == (State.PREPARE_ABORT, 5, (A, B))
    assert (fenced.started_ms, fenced.updated_ms) == (20, 50)
    fenced.check()
    assert ongoing(EPOCH_MAX).fenced(client_version=version, now_ms=50).epoch == EPOCH_MAX


def test_an_abort_of_nothing_starts_when_it_is_asked_for() -> None:
    one = ended(new(), committed=False, version=2)
    assert (one.state, one.started_ms, one.partitions) == (State.PREPARE_ABORT, 30, ())


def test_what_the_table_does_not_allow_cannot_be_made() -> None:
    with pytest.raises(AssertionError, match="PREPARE_COMMIT after EMPTY"):
        ended(new(), committed=True, version=2)
    with pytest.raises(AssertionError, match="ONGOING after PREPARE_ABORT"):
        ended(ongoing(), committed=False, version=0).with_partitions(
            (A,), client_version=0, now_ms=1
        )
