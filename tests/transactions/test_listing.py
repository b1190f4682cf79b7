from __future__ import annotations

import pytest

from quire.transactions.listing import Filter, pattern_of, states_named
from quire.transactions.states import State
from quire.transactions.transaction import Transaction

ONE = Transaction(7, 0, 1000, State.ONGOING, started_ms=100)


def test_without_filters_everything_is_shown() -> None:
    assert Filter().shows("t", ONE, 100)


def test_filters_are_all_to_be_met() -> None:
    assert Filter(frozenset({State.ONGOING}), frozenset({7}), 50).shows("t", ONE, 151)
    assert not Filter(frozenset({State.EMPTY})).shows("t", ONE, 151)
    assert not Filter(producer_ids=frozenset({8})).shows("t", ONE, 151)
    assert not Filter(older_than_ms=50).shows("t", ONE, 150)
    assert Filter(older_than_ms=0).shows("t", ONE, 101)


def test_names_that_are_no_states_are_told_and_show_nothing() -> None:
    assert states_named([]) == (None, [])
    assert states_named(["Ongoing", "Odd"]) == (frozenset({State.ONGOING}), ["Odd"])
    states, unknown = states_named(["Odd"])
    assert unknown == ["Odd"]
    assert not Filter(states).shows("t", ONE, 100)


def test_a_pattern_must_match_the_whole_id() -> None:
    pattern = pattern_of("job-[0-9]+")
    assert Filter(pattern=pattern).shows("job-12", ONE, 100)
    assert not Filter(pattern=pattern).shows("my-job-12", ONE, 100)


@pytest.mark.parametrize(
    "text", ["(", "a(?=b)", "(?<!a)b", r"(a)\1", "a++", "(?>a)", "(?P<x>a)(?P=x)", "x" * 2000]
)
def test_what_re2_does_not_know_is_no_pattern(text: str) -> None:
    assert pattern_of(text) is None


@pytest.mark.parametrize("text", ["(?i)a", "(?:a|b)*", "(?P<x>a)", r"\\1", "^a$"])
def test_what_re2_knows_is_a_pattern(text: str) -> None:
    assert pattern_of(text) is not None
