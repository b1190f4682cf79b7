from __future__ import annotations

from typing import Any

from tests.groups.consumer_world import topic_id

from quire.groups.consumer_reconciling import Goal, reconcile
from quire.groups.consumer_states import STABLE, UNRELEASED, UNREVOKED, MemberState
from quire.groups.consumer_values import Holding

T, U = topic_id("t"), topic_id("u")


def goal(epoch: int, target: dict[bytes, tuple[int, ...]], *held: tuple[bytes, int]) -> Goal:
    return Goal(epoch, target, lambda topic, number: (topic, number) in held)


def owned(**topics: Any) -> dict[bytes, frozenset[int]]:
    return {topic_id(name): frozenset(numbers) for name, numbers in topics.items()}


def test_who_has_what_it_shall_have_stays_as_it_is() -> None:
    holding = Holding(3, 2, STABLE, {T: {0: 2}})
    assert reconcile(holding, goal(3, {T: (0,)}), None) is holding


def test_free_partitions_are_taken_with_the_target_s_epoch() -> None:
    found = reconcile(Holding(2, 0, STABLE, {T: {0: 2}}), goal(4, {T: (0, 1), U: (0,)}), None)
    assert found == Holding(4, 2, STABLE, {T: {0: 2, 1: 4}, U: {0: 4}})


def test_partitions_that_the_target_takes_away_are_given_back_first() -> None:
    holding = Holding(2, 0, STABLE, {T: {0: 2, 1: 2}})
    found = reconcile(holding, goal(3, {T: (0, 2)}), None)
    assert found == Holding(2, 2, UNREVOKED, {T: {0: 2}}, {T: {1: 2}})
    assert reconcile(found, goal(3, {T: (0, 2)}), None) is found
    assert reconcile(found, goal(3, {T: (0, 2)}), owned(t=[0, 1])) is found
    after = reconcile(found, goal(3, {T: (0, 2)}), owned(t=[0]))
    assert after == Holding(3, 2, STABLE, {T: {0: 2, 2: 3}})


def test_who_owns_nothing_of_it_gives_it_back_at_once() -> None:
    found = reconcile(Holding(2, 0, STABLE, {T: {0: 2}}), goal(3, {U: (1,)}), {})
    assert found == Holding(3, 2, STABLE, {U: {1: 3}})


def test_partitions_that_others_hold_are_waited_for_in_the_target_s_epoch() -> None:
    target = {T: (0, 1)}
    found = reconcile(Holding(2, 0), goal(3, target, (T, 0), (T, 1)), None)
    assert found == Holding(3, 2, UNRELEASED)
    again = reconcile(found, goal(3, target, (T, 0), (T, 1)), None)
    assert again == Holding(3, 3, UNRELEASED)
    assert reconcile(again, goal(3, target, (T, 0), (T, 1)), None) == again
    one = reconcile(found, goal(3, target, (T, 1)), None)
    assert one == Holding(3, 3, UNRELEASED, {T: {0: 3}})
    assert reconcile(one, goal(3, target), None) == Holding(3, 3, STABLE, {T: {0: 3, 1: 3}})


def test_who_has_unsubscribed_gives_back_before_there_is_a_new_target() -> None:
    found = reconcile(Holding(3, 2, STABLE, {T: {0: 3}}), goal(3, {}), None)
    assert found == Holding(3, 3, UNREVOKED, {}, {T: {0: 3}})


def test_an_unknown_state_is_reconciled_like_a_stable_one() -> None:
    holding = Holding(3, 2, MemberState.UNKNOWN, {T: {0: 2}})
    assert reconcile(holding, goal(3, {T: (0,)}), None) == Holding(3, 3, STABLE, {T: {0: 2}})


def test_while_something_is_to_be_given_back_newer_targets_wait() -> None:
    holding = Holding(2, 2, UNREVOKED, {T: {0: 2}}, {T: {1: 2}})
    assert reconcile(holding, goal(5, {T: (0, 1)}), owned(t=[0, 1])) is holding
    later = reconcile(holding, goal(5, {T: (1,)}), owned(t=[0]))
    assert later == Holding(2, 2, UNREVOKED, {}, {T: {0: 2}})
