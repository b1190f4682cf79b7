from __future__ import annotations

from tests.groups.consumer_world import HEARTBEAT_MS, REBALANCE_MS, ConsumerWorld, topic_id

from quire.errors import ErrorCode
from quire.groups.consumer_sessions import SESSION

ORDERS = topic_id("orders")


def test_a_member_that_is_silent_for_its_session_is_fenced() -> None:
    world = ConsumerWorld(orders=2)
    a = world.consumer("a", "orders")
    world.pass_ms(44_999)
    a.beat()
    assert a.error is ErrorCode.NONE
    world.pass_ms(44_999)
    assert "a" in world.consumers().stored.members
    world.pass_ms(1)
    assert world.consumers().stored.members == {}
    a.beat()
    assert a.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_heartbeats_move_the_end_of_a_session_and_not_its_timer() -> None:
    world = ConsumerWorld(orders=2)
    a = world.consumer("a", "orders")
    rings = world.timers[SESSION, "g", "a"]
    for _ in range(4):
        world.pass_ms(HEARTBEAT_MS)
        a.beat()
    assert world.timers[SESSION, "g", "a"] == rings
    world.pass_ms(30_000)
    assert world.timers[SESSION, "g", "a"] == 20_000 + 45_000


def test_a_group_s_own_session_and_interval_count() -> None:
    world = ConsumerWorld(orders=2)
    world.set_group(consumer_session_timeout_ms=50_000, consumer_heartbeat_interval_ms=7_000)
    answer = world.join_new("a", "orders")
    assert answer.heartbeat_interval_ms == 7_000
    world.pass_ms(49_999)
    assert "a" in world.consumers().stored.members
    world.pass_ms(1)
    assert world.consumers().stored.members == {}


def test_who_does_not_give_back_in_time_is_fenced_though_it_is_alive() -> None:
    world = ConsumerWorld(orders=2)
    a = world.consumer("a", "orders")
    world.pass_ms(1_000)
    b = world.consumer("b", "orders")
    a.beat()  # learns that it has to give one back
    kept = {ORDERS: (0, 1)}
    for _ in range(3):
        world.pass_ms(HEARTBEAT_MS)
        world.beat("a", a.epoch, owned=kept)
        b.beat()
        assert b.owned == {}
    world.pass_ms(REBALANCE_MS - 3 * HEARTBEAT_MS)
    assert "a" not in world.consumers().stored.members
    world.settle(b)
    assert b.owned == {ORDERS: (0, 1)}


def test_who_gives_back_in_time_is_not_fenced_later() -> None:
    world = ConsumerWorld(orders=2)
    a = world.consumer("a", "orders")
    world.pass_ms(1_000)
    b = world.consumer("b", "orders")
    world.settle(a, b)
    assert sorted([a.owned[ORDERS], b.owned[ORDERS]]) == [(0,), (1,)]


def test_whoever_has_to_give_back_again_has_its_whole_time_again() -> None:
    world = ConsumerWorld(orders=4)
    a = world.consumer("a", "orders")
    world.pass_ms(1_000)
    world.consumer("b", "orders")
    a.beat()  # shall give back two
    world.pass_ms(15_000)
    world.consumer("c", "orders")
    world.pass_ms(1_000)
    world.consumer("d", "orders")
    a.beat()  # has done so, and shall give back one more in the same epoch
    assert (a.epoch, len(a.owned[ORDERS])) == (2, 1)
    world.pass_ms(19_999)
    assert "a" in world.consumers().stored.members
    world.pass_ms(1)
    assert "a" not in world.consumers().stored.members


def test_after_a_takeover_everybody_has_all_the_time_that_there_is() -> None:
    world = ConsumerWorld(orders=2)
    a = world.consumer("a", "orders")
    world.pass_ms(1_000)
    world.consumer("b", "orders")
    a.beat()
    world.pass_ms(19_000)
    world.reload()
    world.pass_ms(REBALANCE_MS - 1)
    assert set(world.consumers().stored.members) == {"a", "b"}
    world.pass_ms(1)
    assert set(world.consumers().stored.members) == {"b"}
    world.pass_ms(45_000)
    assert world.consumers().stored.members == {}


def test_nothing_rings_for_members_that_have_left() -> None:
    world = ConsumerWorld(orders=2)
    world.consumer("a", "orders").leave()
    assert [key for key in world.timers if key != "expiry"] == []
