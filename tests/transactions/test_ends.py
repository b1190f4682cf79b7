from __future__ import annotations

from dataclasses import replace

import pytest

from quire.errors import ErrorCode
from quire.transactions.commands import End
from quire.transactions.ends import judge
from quire.transactions.states import State
from quire.transactions.transaction import ProducerId, Transaction

MAY = None
DONE = ErrorCode.NONE
WAIT = ErrorCode.CONCURRENT_TRANSACTIONS
WRONG = ErrorCode.INVALID_TXN_STATE
FENCED = ErrorCode.PRODUCER_FENCED
STRANGER = ErrorCode.INVALID_PRODUCER_ID_MAPPING

ONE = Transaction(7, 5, 1000, previous_producer_id=7)


def asked(state: State, epoch: int, *, committed: bool, version: int) -> ErrorCode | None:
    end = End("t", ProducerId(7, epoch), committed, version)
    return judge(replace(ONE, state=state), end)


@pytest.mark.parametrize(
    ("state", "commit", "abort"),
    [
        (State.EMPTY, WRONG, WRONG),
        (State.ONGOING, MAY, MAY),
        (State.PREPARE_COMMIT, WAIT, WAIT),
        (State.PREPARE_ABORT, WAIT, WAIT),
        (State.COMPLETE_COMMIT, DONE, WRONG),
        (State.COMPLETE_ABORT, WRONG, DONE),
    ],
)
def test_without_a_bump_repeats_have_the_same_epoch(
    state: State, commit: ErrorCode | None, abort: ErrorCode | None
) -> None:
    assert asked(state, 5, committed=True, version=0) is commit
    assert asked(state, 5, committed=False, version=0) is abort
    for epoch in (4, 6):
        assert asked(state, epoch, committed=True, version=0) is FENCED


@pytest.mark.parametrize(
    ("state", "epoch", "commit", "abort"),
    [
        (State.EMPTY, 5, WRONG, MAY),
        (State.EMPTY, 4, FENCED, FENCED),
        (State.ONGOING, 5, MAY, MAY),
        (State.ONGOING, 4, FENCED, FENCED),
        (State.PREPARE_COMMIT, 4, WAIT, WAIT),
        (State.PREPARE_COMMIT, 5, WAIT, WAIT),
        (State.PREPARE_ABORT, 4, WAIT, WAIT),
        (State.COMPLETE_COMMIT, 4, DONE, WRONG),
        (State.COMPLETE_COMMIT, 5, WRONG, MAY),
        (State.COMPLETE_COMMIT, 3, FENCED, FENCED),
        (State.COMPLETE_COMMIT, 6, FENCED, FENCED),
        (State.COMPLETE_ABORT, 4, WRONG, DONE),
        (State.COMPLETE_ABORT, 5, WRONG, MAY),
    ],
)
def test_with_a_bump_a_repeat_has_the_epoch_before(
    state: State, epoch: int, commit: ErrorCode | None, abort: ErrorCode | None
) -> None:
    assert asked(state, epoch, committed=True, version=2) is commit
    assert asked(state, epoch, committed=False, version=2) is abort


def test_another_producer_id_is_a_stranger_but_for_the_one_whose_epochs_are_used_up() -> None:
    for version in (0, 2):
        assert judge(ONE, End("t", ProducerId(8, 5), True, version)) is STRANGER
    rotated = Transaction(8, 0, 1000, State.COMPLETE_COMMIT, previous_producer_id=7)
    last = ProducerId(7, 32766)
    assert judge(rotated, End("t", last, True, 2)) is DONE
    assert judge(rotated, End("t", last, False, 2)) is WRONG
    assert judge(rotated, End("t", ProducerId(7, 3), True, 2)) is STRANGER
    assert judge(rotated, End("t", last, True, 0)) is STRANGER
