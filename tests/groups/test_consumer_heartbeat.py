from __future__ import annotations

from typing import Any

import pytest
from tests.groups.consumer_world import ConsumerWorld, topic_id

from quire.errors import ErrorCode
from quire.groups.keys import type_of

ORDERS = topic_id("orders")
JOIN: dict[str, Any] = {"topics": ["orders"], "owned": {}, "rebalance_ms": 5_000}


def kinds(world: ConsumerWorld, since: int = 0) -> list[int]:
    return [type_of(entry[0][0]) for entry in world.log[since:]]  # type: ignore[arg-type]


def test_the_first_member_gets_everything_in_epoch_two_in_one_batch() -> None:
    world = ConsumerWorld(orders=3)
    answer = world.join_new("a", "orders")
    assert (answer.error_code, answer.member_id, answer.member_epoch) == (0, "a", 2)
    assert answer.heartbeat_interval_ms == 5_000
    (given,) = answer.assignment.topic_partitions
    assert (given.topic_id, list(given.partitions)) == (ORDERS, [0, 1, 2])
    assert kinds(world) == [5, 3, 7, 6, 8]


def test_a_member_that_reads_nothing_makes_no_epoch() -> None:
    world = ConsumerWorld(orders=3)
    answer = world.join_new("a")
    assert (answer.member_epoch, answer.assignment.topic_partitions) == (1, [])
    assert kinds(world) == [5, 8]
    answer = world.beat("a", 1, topics=["orders"])
    assert (answer.member_epoch, len(answer.assignment.topic_partitions)) == (2, 1)


def test_a_heartbeat_that_changes_nothing_writes_nothing() -> None:
    world = ConsumerWorld(orders=3)
    a = world.consumer("a", "orders")
    written = len(world.log)
    answer = world.beat("a", a.epoch)
    assert (answer.error_code, answer.assignment) == (0, None)
    a.beat()
    assert len(world.log) == written


def test_a_second_member_gets_its_share_when_the_first_has_given_it_back() -> None:
    world = ConsumerWorld(orders=4)
    a = world.consumer("a", "orders")
    world.pass_ms(1_000)
    b = world.consumer("b", "orders")
    assert (b.epoch, b.owned) == (3, {})
    a.beat()
    assert (a.epoch, a.owned) == (2, {ORDERS: (0, 1)})
    b.beat()
    assert b.owned == {}
    a.beat()
    assert a.epoch == 3
    b.beat()
    assert b.owned == {ORDERS: (2, 3)}
    held = world.consumers().stored.holding("b").assigned
    assert held == {ORDERS: {2: 3, 3: 3}}


def test_wrong_epochs_are_fenced_but_for_a_repeated_answer() -> None:
    world = ConsumerWorld(orders=4)
    a = world.consumer("a", "orders")
    world.pass_ms(1_000)
    b = world.consumer("b", "orders")
    world.settle(a, b)
    assert (a.epoch, a.owned) == (3, {ORDERS: (0, 1)})
    fenced = ErrorCode.FENCED_MEMBER_EPOCH
    assert world.refused("a", 4) is fenced
    assert world.refused("a", 1, owned={}) is fenced
    assert world.refused("a", 2) is fenced
    assert world.refused("a", 2, owned={ORDERS: (3,)}) is fenced
    answer = world.beat("a", 2, owned={ORDERS: (0,)})
    assert (answer.error_code, answer.member_epoch) == (0, 3)


def test_who_joins_again_is_told_everything_that_it_has() -> None:
    world = ConsumerWorld(orders=2)
    a = world.consumer("a", "orders")
    a.join()
    assert (a.epoch, a.owned) == (2, {ORDERS: (0, 1)})


def test_a_whole_request_is_answered_with_the_assignment() -> None:
    world = ConsumerWorld(orders=2)
    a = world.consumer("a", "orders")
    answer = world.beat("a", 2, topics=["orders"], owned=a.owned, rebalance_ms=5_000)
    assert len(answer.assignment.topic_partitions) == 1


def test_who_unsubscribes_gives_back_before_anybody_else_has_it() -> None:
    world = ConsumerWorld(orders=1, returns=1)
    a = world.consumer("a", "orders")
    b = world.consumer("b", "orders", "returns")
    world.settle(a, b)
    assert a.owned == {ORDERS: (0,)}
    a.subscribe("returns")
    assert a.owned == {}
    world.settle(a, b)
    assert {**a.owned, **b.owned} == {ORDERS: (0,), topic_id("returns"): (0,)}
    assert b.owned == {ORDERS: (0,)}


@pytest.mark.parametrize(
    ("member_id", "epoch", "how", "reason"),
    [
        ("a", 0, JOIN | {"group_id": ""}, "GroupId can't be empty."),
        ("", 0, JOIN, "MemberId can't be empty."),
        ("", 3, {"version": 0}, "MemberId can't be empty."),
        ("a", 0, JOIN | {"instance": ""}, "InstanceId can't be empty."),
        ("a", 0, JOIN | {"rebalance_ms": -1}, "RebalanceTimeoutMs must be provided"),
        ("a", 0, JOIN | {"owned": None}, "TopicPartitions must be empty"),
        ("a", 0, JOIN | {"owned": {ORDERS: (1,)}}, "TopicPartitions must be empty"),
        ("a", 0, JOIN | {"topics": None}, "Either SubscribedTopicNames or"),
        ("a", -2, {}, "InstanceId can't be null."),
        ("a", -3, {}, "MemberEpoch is invalid."),
    ],
)
def test_requests_that_nobody_may_make_are_told_why(
    member_id: str, epoch: int, how: dict[str, Any], reason: str
) -> None:
    world = ConsumerWorld(orders=1)
    answer = world.beat(member_id, epoch, **how)
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert answer.error_message.startswith(reason)
    assert (answer.member_id, answer.member_epoch, world.log) == (None, 0, [])


def test_unknown_assignors_and_patterns_are_refused_and_make_no_group() -> None:
    world = ConsumerWorld(orders=1)
    answer = world.join_new("a", "orders", assignor="foo")
    assert answer.error_code == ErrorCode.UNSUPPORTED_ASSIGNOR
    assert answer.error_message.endswith("Supported assignors: uniform, range.")
    answer = world.join_new("a", topics=None, pattern="(?=a)b")
    assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert (world.log, world.machine.find("g")) == ([], None)


def test_an_older_client_is_given_an_id() -> None:
    world = ConsumerWorld(orders=1)
    answer = world.join_new("", "orders", version=0)
    assert len(answer.member_id) == 22
    assert list(world.consumers().stored.members) == [answer.member_id]


def test_a_full_group_takes_nobody_but_those_who_come_back() -> None:
    world = ConsumerWorld({"consumer_group_size_max": 2}, orders=4)
    world.consumer("a", "orders")
    b = world.consumer("b", "orders", instance="i")
    assert world.join_new("c", "orders").error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert world.join_new("a", "orders").error_code == ErrorCode.NONE
    b.go_away()
    assert world.join_new("d", "orders", instance="i").error_code == ErrorCode.NONE


def test_a_static_member_that_comes_back_finds_what_it_had() -> None:
    world = ConsumerWorld(orders=2)
    a = world.consumer("a", "orders", instance="i")
    b = world.consumer("b", "orders")
    world.settle(a, b)
    had = a.owned
    assert world.join_new("c", "orders", instance="i").error_code == (
        ErrorCode.UNRELEASED_INSTANCE_ID
    )
    a.go_away()
    epoch, written = world.consumers().stored.epoch, len(world.log)
    c = world.consumer("c", "orders", instance="i")
    assert (c.owned, c.epoch, world.consumers().stored.epoch) == (had, epoch, epoch)
    assert kinds(world, written) == [8, 7, 5, 5, 7, 8, 8]
    assert world.refused("a", epoch, instance="i") is ErrorCode.FENCED_INSTANCE_ID
    assert world.refused("c", epoch, instance="j") is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.refused("a", epoch) is ErrorCode.UNKNOWN_MEMBER_ID
    world.settle(b, c)
    assert world.replayed().stored == world.machine.stored
