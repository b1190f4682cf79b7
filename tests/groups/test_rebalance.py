from __future__ import annotations

import pytest
from tests.groups.world import REBALANCE_MS, SESSION_MS, World

from quire.errors import ErrorCode
from quire.groups.states import COMPLETING, EMPTY, PREPARING, STABLE


def test_the_first_rebalance_waits_for_more_and_longer_when_they_come() -> None:
    world = World(initial_rebalance_delay_ms=3000)
    first = world.join(version=3)
    world.pass_ms(2999)
    assert first not in world.answers
    second = world.join(version=3)
    world.pass_ms(1)
    assert first not in world.answers
    world.pass_ms(3000)
    assert {world.answers[one].generation_id for one in (first, second)} == {1}


def test_the_delay_ends_with_the_rebalance_timeout_however_many_come() -> None:
    world = World(initial_rebalance_delay_ms=3000)
    first = world.join(version=3, rebalance_ms=7000)
    came = 1
    while first not in world.answers:
        world.pass_ms(1000)
        if first not in world.answers:
            world.join(version=3, rebalance_ms=7000)
            came += 1
    assert world.now_ms == 7000
    assert len(world.answers[first].members) == came


def test_without_a_delay_the_first_member_joins_at_once() -> None:
    world = World(initial_rebalance_delay_ms=0)
    ticket = world.join(version=3)
    world.pass_ms(0)
    assert world.answers[ticket].generation_id == 1


def test_later_rounds_end_as_soon_as_everybody_has_joined() -> None:
    world = World()
    leader, follower = world.stable(2)
    first = world.join("g", leader)
    assert first not in world.answers
    second = world.join("g", follower)
    assert world.answers[first].generation_id == world.answers[second].generation_id == 2
    assert world.group().state is COMPLETING


def test_who_is_expected_is_waited_for_too() -> None:
    world = World()
    (leader,) = world.stable()
    newcomer = world.member_id()
    waiting = world.join("g", leader)
    assert waiting not in world.answers
    world.join("g", newcomer)
    assert len(world.answers[waiting].members) == 2


def test_dynamic_members_that_do_not_come_in_time_are_out() -> None:
    world = World()
    leader, follower = world.stable(2, session_ms=60_000)
    waiting = world.join("g", leader, session_ms=60_000)
    world.pass_ms(REBALANCE_MS - 1)
    assert waiting not in world.answers
    world.pass_ms(1)
    assert [one.member_id for one in world.answers[waiting].members] == [leader]
    assert world.heartbeat(follower, 2) is ErrorCode.UNKNOWN_MEMBER_ID


def static_pair(world: World, session_ms: int) -> list[str]:
    tickets = [world.join(instance=f"i-{n}", session_ms=session_ms) for n in (1, 2)]
    world.pass_ms(6000)
    ids = [world.answers[one].member_id for one in tickets]
    for one in ids:
        world.sync(one, 1, {})
    return ids


def test_static_members_stay_until_their_sessions_end() -> None:
    world = World()
    first, second = static_pair(world, 60_000)
    waiting = world.join("g", first, instance="i-1", session_ms=60_000)
    world.pass_ms(REBALANCE_MS)
    assert [one.member_id for one in world.answers[waiting].members] == [first, second]


def test_when_only_absent_static_members_are_left_the_group_waits_for_their_sessions() -> None:
    world = World()
    static_pair(world, 60_000)
    newcomer = world.member_id()
    world.join("g", newcomer)
    world.leave((newcomer, None))
    world.pass_ms(REBALANCE_MS)
    assert world.group().state is PREPARING
    world.pass_ms(60_000)
    assert world.group().state is EMPTY


def test_a_leader_that_does_not_come_is_followed_by_one_that_does() -> None:
    world = World()
    first, second = static_pair(world, 60_000)
    assert world.group().leader == first
    newcomer = world.join(version=3)
    waiting = world.join("g", second, instance="i-2", session_ms=60_000)
    world.pass_ms(REBALANCE_MS)
    assert world.answers[waiting].leader == second
    assert len(world.answers[waiting].members) == 3
    assert world.answers[newcomer].members == []


def test_a_round_that_begins_while_others_wait_for_their_share_sends_them_away() -> None:
    world = World()
    ids = [world.member_id() for _ in range(2)]
    for one in ids:
        world.join("g", one)
    world.pass_ms(6000)
    waiting = world.sync(ids[1], 1)
    world.join(version=3)
    assert world.answers[waiting].error_code == ErrorCode.REBALANCE_IN_PROGRESS


def test_who_never_asks_for_its_share_is_out() -> None:
    world = World()
    ids = [world.member_id() for _ in range(2)]
    for one in ids:
        world.join("g", one)
    world.pass_ms(6000)
    world.sync(ids[0], 1, {})
    for _ in range(4):
        world.pass_ms(REBALANCE_MS // 4)
        for one in ids:
            world.heartbeat(one, 1)
    assert list(world.group().members) == [ids[0]]
    assert world.group().state is PREPARING


def test_a_leader_that_never_assigns_is_out_and_the_next_one_leads() -> None:
    world = World()
    ids = [world.member_id() for _ in range(2)]
    for one in ids:
        world.join("g", one)
    world.pass_ms(6000)
    waiting = world.sync(ids[1], 1)
    for _ in range(4):
        world.pass_ms(REBALANCE_MS // 4)
        world.heartbeat(ids[0], 1)
    assert world.answers[waiting].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert world.group().leader == ids[1]


@pytest.mark.parametrize(
    ("protocols", "chosen"),
    [
        ((("a", "b"), ("a", "b"), ("b", "a")), "a"),
        ((("a", "b"), ("b", "a"), ("b", "a")), "b"),
        ((("a", "b", "c"), ("c", "b"), ("b",)), "b"),
        ((("c", "b", "a"), ("a", "c"), ("a", "c")), "a"),
    ],
)
def test_members_vote_for_the_protocol_they_like_best_of_those_all_speak(
    protocols: tuple[tuple[str, ...], ...], chosen: str
) -> None:
    world = World()
    tickets = [world.join(version=3, protocols=dict.fromkeys(names, b"")) for names in protocols]
    world.pass_ms(6000)
    assert {world.answers[one].protocol_name for one in tickets} == {chosen}


def test_after_another_broker_takes_over_sessions_begin_anew() -> None:
    world = World()
    ids = world.stable(2)
    world.pass_ms(SESSION_MS - 1)
    world.reload()
    assert world.group().state is STABLE
    world.pass_ms(SESSION_MS - 1)
    assert world.heartbeat(ids[0], 1) is ErrorCode.NONE
    world.pass_ms(1)
    assert list(world.group().members) == [ids[0]]
    assert world.answers[world.join("g", ids[0])].generation_id == 2


def test_a_group_that_is_loaded_and_too_large_now_is_asked_to_join_anew() -> None:
    world = World()
    world.stable(3)
    world.settings = type(world.settings)(group_size_max=2)
    world.reload()
    assert world.group().state is PREPARING


def test_a_member_dies_and_the_others_get_its_share() -> None:
    world = World()
    leader, follower = world.stable(2)
    for _ in range(3):
        world.pass_ms(SESSION_MS // 2)
        world.heartbeat(leader, 1)
    assert world.heartbeat(leader, 1) is ErrorCode.REBALANCE_IN_PROGRESS
    answer = world.answers[world.join("g", leader)]
    assert [one.member_id for one in answer.members] == [leader]
    assert world.heartbeat(follower, 1) is ErrorCode.UNKNOWN_MEMBER_ID
