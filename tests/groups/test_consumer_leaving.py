from __future__ import annotations

from tests.groups.consumer_world import ConsumerWorld, topic_id
from tests.groups.test_consumer_heartbeat import kinds

from quire.errors import ErrorCode

ORDERS = topic_id("orders")


def test_who_leaves_takes_everything_along_and_makes_an_epoch() -> None:
    world = ConsumerWorld(orders=2)
    a = world.consumer("a", "orders")
    written = len(world.log)
    answer = world.beat("a", -1)
    assert (answer.error_code, answer.member_id, answer.member_epoch) == (0, "a", -1)
    assert answer.heartbeat_interval_ms == 0
    assert kinds(world, written) == [8, 7, 5, 3]
    stored = world.consumers().stored
    assert (stored.epoch, stored.metadata_hash, stored.owners) == (3, 0, {})
    assert a.world.refused("a", -1) is ErrorCode.UNKNOWN_MEMBER_ID


def test_what_a_member_leaves_behind_is_free_at_once() -> None:
    world = ConsumerWorld(orders=2)
    a = world.consumer("a", "orders")
    b = world.consumer("b", "orders")
    world.settle(a, b)
    a.leave()
    world.pass_ms(1_000)
    b.beat()
    assert b.owned == {ORDERS: (0, 1)}


def test_a_static_member_that_goes_away_keeps_its_share_until_its_session_ends() -> None:
    world = ConsumerWorld(orders=2)
    a = world.consumer("a", "orders", instance="i")
    b = world.consumer("b", "orders")
    world.settle(a, b)
    epoch = world.consumers().stored.epoch
    a.go_away()
    assert world.consumers().stored.holding("a").epoch == -2
    assert world.consumers().stored.epoch == epoch
    for _ in range(8):
        world.pass_ms(5_000)
        b.beat()
    assert b.owned == {ORDERS: (1,)}
    world.pass_ms(5_000)
    assert "a" not in world.consumers().stored.members
    world.settle(b)
    assert b.owned == {ORDERS: (0, 1)}


def test_a_static_member_that_goes_for_good_frees_its_id() -> None:
    world = ConsumerWorld(orders=2)
    a = world.consumer("a", "orders", instance="i")
    assert world.refused("z", -1, instance="i") is ErrorCode.FENCED_INSTANCE_ID
    assert world.refused("a", -1, instance="j") is ErrorCode.UNKNOWN_MEMBER_ID
    a.leave()
    assert world.consumers().stored.instances == {}
    world.pass_ms(1_000)
    assert world.consumer("b", "orders", instance="i").epoch == 4


def test_nobody_leaves_a_group_that_is_not_there() -> None:
    world = ConsumerWorld(orders=2)
    answer = world.beat("a", -1)
    assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert answer.error_message == "Group g not found."
    assert world.refused("a", 4) is ErrorCode.GROUP_ID_NOT_FOUND
