"""Each law of groups on a history that keeps it, and on histories that break it in one place."""

from __future__ import annotations

import pytest

from quire.sim.history import Place
from quire.sim.laws import BrokenLawError
from quire.sim.ownership import Accepted, Assigned, Found, Gone, Ownership, Span

A, B = Place("topic", 0), Place("topic", 1)


def kept() -> Ownership:
    """Two generations: first `one` has both partitions, then `two` gets the second."""
    return Ownership(
        places=(A, B),
        assigned=[
            Assigned(1, "one", (A, B), 0.0, 1.0),
            Assigned(2, "two", (B,), 4.0, 5.0),
            Assigned(2, "one", (A,), 4.1, 5.1),
        ],
        accepted=[
            Accepted("one", 1, Span(2.0, 3.0, 1), {A: 4, B: 6}),
            Accepted("two", 2, Span(6.0, 7.0, 1), {B: 8}),
        ],
        found=[Found({A: 4, B: 6}, Span(3.5, 4.0, 1)), Found({A: 4, B: 8}, Span(8.0, 9.0, 1))],
        tried={A: {4: None}, B: {6: None, 8: None}},
        settled={"one": (2, (A,)), "two": (2, (B,))},
        before_restart={A: 4, B: 8},
        after_restart={A: 4, B: 8},
    )


def broken(history: Ownership) -> str:
    with pytest.raises(BrokenLawError) as refused:
        history.judge()
    return str(refused.value)


def test_a_history_without_fault_is_accepted() -> None:
    kept().judge()


def test_two_owners_in_one_generation_are_told_and_in_two_they_are_not() -> None:
    history = kept()
    history.assigned.append(Assigned(2, "one", (B,), 4.1, 5.2))
    assert "O1 topic-1 belongs to two and to one in 2" in broken(history)


def test_a_commit_that_was_acknowledged_is_found_by_whoever_asks_later() -> None:
    history = kept()
    history.found[1] = Found({A: 4, B: 6}, Span(8.0, 9.0, 1))
    assert "O2 topic-1 is at 6" in broken(history)
    history.found[1] = Found({A: 4, B: 6}, Span(6.5, 9.0, 1))
    history.judge()


def test_what_was_found_once_does_not_go_back_either() -> None:
    history = kept()
    history.tried[A][9] = None
    history.found.insert(0, Found({A: 9}, Span(2.5, 3.0, 1)))
    assert "O2 topic-0 is at 4 (asked 3.500), 9 was found" in broken(history)


def test_an_offset_that_nobody_committed_is_told_and_none_is_none() -> None:
    history = kept()
    history.found[0] = Found({A: 5, B: 6}, Span(3.5, 4.0, 1))
    history.found[1] = Found({A: 5, B: 8}, Span(8.0, 9.0, 1))
    assert "O3 topic-0 is at 5" in broken(history)
    history = kept()
    history.found.insert(0, Found({A: -1, B: -1}, Span(0.0, 0.5, 1)))
    history.judge()


@pytest.mark.parametrize("offsets", [{}, {B: 9}])
def test_a_member_of_an_earlier_generation_must_be_refused(offsets: dict[Place, int]) -> None:
    history = kept()
    history.accepted.append(Accepted("one", 1, Span(4.5, 9.5, 1), offsets))
    history.judge()
    history.accepted.append(Accepted("one", 1, Span(5.5, 9.5, 1), offsets))
    assert "O4 one of 1 was believed" in broken(history)


def test_who_is_gone_must_be_refused_as_long_as_the_coordinator_lives() -> None:
    history = kept()
    history.gone.append(Gone("two", 5.5, 2))
    history.judge()
    history.gone.append(Gone("two", 5.5, 1))
    assert "O5 two was gone at 5.500, believed at 7.000" in broken(history)


def test_a_generation_that_comes_after_a_later_one_is_told() -> None:
    history = kept()
    history.assigned.append(Assigned(1, "one", (A, B), 5.05, 6.0))
    assert "O6 one joined 1 after 2" in broken(history)


def test_at_the_end_there_is_one_generation_with_everything_owned_once() -> None:
    history = kept()
    history.settled["two"] = (3, (B,))
    assert "not in one generation" in broken(history)
    history.settled["two"] = (2, ())
    assert "are owned" in broken(history)


def test_a_restart_changes_no_offset() -> None:
    history = kept()
    history.after_restart = {A: 4, B: 7}
    assert "O7 a restart made" in broken(history)
