from __future__ import annotations

from tests.groups.world import SESSION_MS, World, subscription

from quire.coordination import Producer
from quire.groups.states import STABLE

KEPT_MS = 1_000_000
LOOK_MS = 100_000


def world_of() -> World:
    return World(offsets_retention_ms=KEPT_MS, offsets_check_interval_ms=LOOK_MS)


def keep_alive(world: World, member_id: str, duration_ms: int) -> None:
    for _ in range(duration_ms // (SESSION_MS // 2)):
        world.heartbeat(member_id, 1)
        world.pass_ms(SESSION_MS // 2)


def test_offsets_of_nobody_expire_after_their_commit_and_the_group_with_them() -> None:
    world = world_of()
    world.commit(1)
    world.pass_ms(KEPT_MS // 2)
    world.commit(2, partition=1)
    world.pass_ms(KEPT_MS // 2)
    assert world.all_offsets() == {("orders", 1): 2}
    world.pass_ms(KEPT_MS)
    assert world.machine.find("g") is None
    assert world.machine.stored == type(world.machine.stored)()


def test_an_empty_group_s_offsets_expire_after_it_became_empty() -> None:
    world = world_of()
    (leader,) = world.stable()
    world.commit(1, member_id=leader, generation=1)
    keep_alive(world, leader, KEPT_MS)
    assert world.group().state is STABLE
    world.leave((leader, None))
    world.pass_ms(KEPT_MS - LOOK_MS)
    assert world.all_offsets() == {("orders", 0): 1}
    world.pass_ms(2 * LOOK_MS)
    assert world.machine.find("g") is None
    assert world.machine.stored.groups == {}


def test_consumers_lose_the_offsets_of_topics_that_they_do_not_read_any_more() -> None:
    world = world_of()
    world.commit(1, topic="orders")
    world.commit(1, topic="sales")
    (leader,) = world.stable(protocols={"range": subscription("orders")})
    keep_alive(world, leader, KEPT_MS + LOOK_MS)
    assert world.all_offsets() == {("orders", 0): 1}


def test_members_that_do_not_say_what_they_read_keep_everything() -> None:
    world = world_of()
    world.commit(1)
    ticket = world.join(version=3, protocol_type="connect", protocols={"x": b"?"})
    world.pass_ms(3000)
    member_id = world.answers[ticket].member_id
    world.sync(member_id, 1, {}, protocol_type="connect")
    keep_alive(world, member_id, KEPT_MS + LOOK_MS)
    assert world.all_offsets() == {("orders", 0): 1}


def test_what_a_transaction_may_change_does_not_expire() -> None:
    world = world_of()
    world.commit(1)
    world.commit_in(Producer(7, 0), 2)
    world.pass_ms(KEPT_MS + LOOK_MS)
    assert world.all_offsets() == {("orders", 0): 1}
    world.end(Producer(7, 0), committed=False)
    world.pass_ms(LOOK_MS)
    assert world.all_offsets() == {}


def test_an_older_client_may_say_how_long_to_keep_an_offset() -> None:
    world = world_of()
    world.commit(1, version=4, retention_time_ms=LOOK_MS)
    world.commit(2, version=4, partition=1, retention_time_ms=10 * KEPT_MS)
    world.pass_ms(LOOK_MS)
    assert world.all_offsets() == {("orders", 1): 2}
    world.pass_ms(9 * KEPT_MS)
    assert world.all_offsets() == {("orders", 1): 2}


def test_a_group_that_somebody_is_about_to_join_stays() -> None:
    world = world_of()
    member_id = world.member_id(session_ms=2 * LOOK_MS)
    world.pass_ms(LOOK_MS)
    ticket = world.join("g", member_id)
    world.pass_ms(3000)
    assert world.answers[ticket].error_code == 0
