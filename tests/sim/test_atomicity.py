"""Each law of transactions on a history that keeps it, and on histories that break it in one place."""

from __future__ import annotations

import pytest

from quire.sim.atomicity import (
    Atomicity,
    Attempt,
    Ending,
    Fence,
    Following,
    Holding,
    Read,
    Written,
    attempt_of,
    number_of,
    value_of,
)
from quire.sim.history import Place
from quire.sim.laws import BrokenLawError

A, B = Place("topic", 0), Place("topic", 1)


def attempt(name: str, first: int, offset: int, ending: Ending, asked: float | None) -> Attempt:
    """One that wrote a record to each partition, at the same offset."""
    return Attempt(
        name,
        "p",
        1,
        first,
        first + 2,
        values=[(A, f"{name}/0"), (B, f"{name}/1")],
        written=[
            Written(A, (f"{name}/0",), offset, 1.0),
            Written(B, (f"{name}/1",), offset, 1.0),
        ],
        commit_asked=asked,
        ending=ending,
    )


def kept() -> Atomicity:
    """One committed, one aborted, one that nobody knows of and that was committed."""
    history = Atomicity(
        attempts=[
            attempt("one", 0, 0, Ending.COMMITTED, 2.0),
            attempt("two", 2, 2, Ending.ABORTED, None),
            attempt("six", 2, 4, Ending.UNKNOWN, 4.0),
        ],
        fences=[Fence("p", 1, 0.5)],
        positions={"p": 4},
    )
    for place, number in ((A, 0), (B, 1)):
        everything = [(0, f"one/{number}"), (2, f"two/{number}"), (4, f"six/{number}")]
        committed = [everything[0], everything[2]]
        history.holding[place] = Holding(everything, committed, 6, 6)
        history.following[place, True] = Following(
            is_committed=True, reads=[Read(o, v, 5.0) for o, v in committed], position=6
        )
        history.following[place, False] = Following(
            is_committed=False, reads=[Read(o, v, 1.5) for o, v in everything], position=6
        )
    return history


def broken(history: Atomicity) -> str:
    with pytest.raises(BrokenLawError) as refused:
        history.judge()
    return str(refused.value)


def test_a_history_without_fault_is_accepted() -> None:
    kept().judge()


def test_a_value_tells_its_attempt_and_its_number() -> None:
    assert (attempt_of(value_of("p.1", 7)), number_of(value_of("p.1", 7))) == ("p.1", 7)


@pytest.mark.parametrize("ending", [Ending.ABORTED, Ending.OPEN])
def test_a_reader_of_committed_data_is_given_nothing_of_what_was_not(ending: Ending) -> None:
    history = kept()
    history.attempts[1].ending = ending
    history.following[A, True].reads.insert(1, Read(2, "two/0", 5.0))
    assert "T1 two/0 of topic-0 was read" in broken(history)


def test_what_was_aborted_is_not_there_at_the_end() -> None:
    history = kept()
    history.holding[B].committed.insert(1, (2, "two/1"))
    assert "T1" in broken(history)


def test_a_committed_record_that_is_not_there_is_lost() -> None:
    history = kept()
    del history.holding[A].committed[0]
    assert "T2 of one, committed" in broken(history)


def test_a_record_is_where_it_was_said_to_be_whatever_became_of_it() -> None:
    history = kept()
    history.attempts[1].written[0] = Written(A, ("two/0",), 3, 1.0)
    assert "T2 two/0 was put at 3 of topic-0, where None is" in broken(history)
    history.attempts[1].written[0] = Written(A, ("two/0",), -1, 1.0)
    history.judge()


def test_of_an_attempt_that_nobody_knows_of_half_is_torn_and_nothing_is_not() -> None:
    history = kept()
    del history.holding[A].committed[1]
    assert "T3 of six" in broken(history)
    del history.holding[B].committed[1]
    history.positions["p"] = 2
    for place in (A, B):
        del history.following[place, True].reads[1]
    history.judge()


def test_a_value_twice_and_values_out_of_order_are_told() -> None:
    history = kept()
    history.holding[A].everything.append((5, "six/0"))
    assert "T4 six/0 of topic-0 at 5 is behind number 0 at 4" in broken(history)


def test_what_nobody_wrote_there_is_told() -> None:
    history = kept()
    history.holding[A].everything.append((5, "six/1"))
    assert "T5 six/1 is at 5 of topic-0" in broken(history)


def test_an_input_that_is_taken_twice_or_by_nobody_is_told() -> None:
    history = kept()
    history.attempts[2].first_input = 1
    assert "T6 p: six took 1 to 4, one ended at 2" in broken(history)
    history.attempts[2].first_input = 3
    assert "T6 p: six took 3 to 4, one ended at 2" in broken(history)


def test_the_position_is_where_the_last_committed_attempt_ended() -> None:
    history = kept()
    history.positions["p"] = 2
    assert "T6 p is committed up to 2, and six ended at 4" in broken(history)


def test_of_a_fenced_incarnation_nothing_is_taken_and_nothing_committed() -> None:
    history = kept()
    history.fences.append(Fence("p", 2, 4.5))
    history.judge()
    history.fences.append(Fence("p", 2, 3.0))
    assert "T7 six was fenced at 3.000, and committed at 4.000" in broken(history)
    history.fences.append(Fence("p", 2, 0.9))
    assert "and Written(" in broken(history)


def test_nothing_is_committed_for_a_reader_before_it_is_for_its_producer() -> None:
    history = kept()
    history.following[A, True].reads[0] = Read(0, "one/0", 1.9)
    assert "T8 one/0 of topic-0 was read as committed at 1.900, too early" in broken(history)


def test_at_the_end_nothing_is_undecided() -> None:
    history = kept()
    history.holding[A].last_stable_offset = 4
    assert "T9 topic-0 is stable up to 4 of 6" in broken(history)


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_reader_leaves_nothing_out_and_sees_nothing_else(*, is_committed: bool) -> None:
    history = kept()
    del history.following[A, is_committed].reads[0]
    assert "T10 a reader" in broken(history)
    history = kept()
    reads = history.following[A, is_committed].reads
    reads.append(reads[-1])
    assert "T10" in broken(history)


def test_a_reader_need_not_have_come_to_the_end() -> None:
    history = kept()
    del history.following[A, True].reads[1]
    history.following[A, True].position = 3
    history.judge()
