from __future__ import annotations

import pytest

from quire.transactions.states import BY_NAME, NAMES, PREVIOUS, State, may_follow


def test_every_state_has_a_name_a_number_and_somewhere_to_come_from() -> None:
    assert set(NAMES) == set(PREVIOUS) == set(State)
    assert [state.value for state in State] == list(range(8))
    assert all(BY_NAME[NAMES[state]] is state for state in State)
    assert NAMES[State.PREPARE_EPOCH_FENCE] == "PrepareEpochFence"


@pytest.mark.parametrize("prepared", [State.PREPARE_COMMIT, State.PREPARE_ABORT])
def test_from_a_decision_only_its_own_completion_follows(prepared: State) -> None:
    after = [state for state in State if may_follow(prepared, state)]
    expected = {
        State.PREPARE_COMMIT: State.COMPLETE_COMMIT,
        State.PREPARE_ABORT: State.COMPLETE_ABORT,
    }
    assert after == [expected[prepared]]
    assert prepared.is_prepared
    assert expected[prepared].is_complete


def test_nothing_follows_death_and_only_what_rests_may_expire() -> None:
    assert not any(may_follow(State.DEAD, state) for state in State)
    assert [state for state in State if state.may_expire] == [
        State.EMPTY,
        State.COMPLETE_COMMIT,
        State.COMPLETE_ABORT,
    ]


def test_a_commit_needs_an_open_transaction_an_abort_does_not() -> None:
    assert not may_follow(State.EMPTY, State.PREPARE_COMMIT)
    assert not may_follow(State.COMPLETE_COMMIT, State.PREPARE_COMMIT)
    assert may_follow(State.EMPTY, State.PREPARE_ABORT)
    assert may_follow(State.ONGOING, State.PREPARE_COMMIT)
