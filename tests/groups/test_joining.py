from __future__ import annotations

import re

import pytest
from tests.groups.world import REBALANCE_MS, SESSION_MS, World, subscription

from quire.errors import ErrorCode
from quire.groups.joining import NEW_MEMBER_TIMEOUT_MS
from quire.groups.states import COMPLETING, EMPTY, PREPARING, STABLE


def test_a_new_member_is_given_its_id_first_and_joins_with_that() -> None:
    world = World()
    member_id = world.member_id(client="app")
    assert re.fullmatch(
        r"app-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-.{12}", member_id
    )
    assert world.group().state is EMPTY
    ticket = world.join("g", member_id)
    assert world.group().state is PREPARING
    world.pass_ms(6000)
    answer = world.answers[ticket]
    assert (answer.error_code, answer.generation_id, answer.leader) == (0, 1, member_id)
    assert (answer.member_id, answer.protocol_name, answer.protocol_type) == (
        member_id, "range", "consumer",
    )  # fmt: skip
    assert [one.member_id for one in answer.members] == [member_id]


@pytest.mark.parametrize("version", range(4))
def test_older_clients_join_at_once(version: int) -> None:
    world = World()
    ticket = world.join(version=version, rebalance_ms=-1 if version == 0 else REBALANCE_MS)
    (member,) = world.group().members.values()
    assert member.rebalance_timeout_ms == (SESSION_MS if version == 0 else REBALANCE_MS)
    world.pass_ms(6000)
    assert world.answers[ticket].error_code == ErrorCode.NONE


def test_who_was_given_an_id_and_never_joins_is_forgotten_after_its_session() -> None:
    world = World()
    member_id = world.member_id()
    world.pass_ms(SESSION_MS)
    answer = world.answers[world.join("g", member_id)]
    assert answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_only_somebody_without_an_id_makes_a_group() -> None:
    world = World()
    answer = world.answers[world.join("new", "somebody")]
    assert (answer.error_code, answer.member_id) == (ErrorCode.UNKNOWN_MEMBER_ID, "somebody")
    assert world.log == []


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ({"group_id": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"session_ms": 5_999}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"session_ms": 1_800_001}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"protocols": {}}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": ""}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_what_nobody_may_join_like(how: dict[str, object], code: ErrorCode) -> None:
    world = World()
    assert world.answers[world.join(**how)].error_code == code  # type: ignore[arg-type]


def test_members_must_have_a_protocol_in_common() -> None:
    world = World()
    world.stable(protocols={"range": b"", "sticky": b""})
    for how in ({"protocol_type": "connect"}, {"protocols": {"other": b""}}):
        answer = world.answers[world.join(**how)]  # type: ignore[arg-type]
        assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert world.group().state is STABLE


def test_a_full_group_takes_nobody_more() -> None:
    world = World(group_size_max=2)
    first, second = world.stable(2)
    third = world.join(version=3)
    assert world.answers[third].error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    tickets = [world.join("g", one) for one in (first, second)]
    assert {world.answers[one].error_code for one in tickets} == {ErrorCode.NONE}


def test_while_preparing_the_last_to_join_are_left_out_of_a_full_group() -> None:
    world = World(group_size_max=2)
    ids = [world.member_id() for _ in range(3)]
    tickets = [world.join("g", one) for one in ids]
    assert world.answers[tickets[2]].error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    world.pass_ms(6000)
    assert [world.answers[one].error_code for one in tickets[:2]] == [0, 0]


def test_a_member_that_asks_again_is_told_the_same_generation() -> None:
    world = World()
    (leader, follower) = world.stable(2)
    again = world.answers[world.join("g", follower)]
    assert (again.error_code, again.generation_id, again.members) == (0, 1, [])
    assert world.group().state is STABLE
    world.join("g", leader)
    assert world.group().state is PREPARING


def test_during_completion_the_same_words_get_the_same_answer_and_others_a_new_round() -> None:
    world = World()
    ids = [world.member_id() for _ in range(2)]
    for one in ids:
        world.join("g", one)
    world.pass_ms(6000)
    assert world.group().state is COMPLETING
    assert len(world.answers[world.join("g", ids[0])].members) == 2
    assert world.answers[world.join("g", ids[1])].members == []
    waiting = world.join("g", ids[1], protocols={"range": subscription("other")})
    assert world.group().state is PREPARING
    assert waiting not in world.answers


def test_a_follower_that_changed_makes_everybody_join_anew() -> None:
    world = World()
    leader, follower = world.stable(2)
    ticket = world.join("g", follower, protocols={"range": subscription("other")})
    assert world.heartbeat(leader, 1) is ErrorCode.REBALANCE_IN_PROGRESS
    world.join("g", leader)
    assert world.answers[ticket].generation_id == 2


def test_who_waits_twice_is_answered_twice_but_joins_once() -> None:
    world = World()
    member_id = world.member_id()
    first, second = world.join("g", member_id), world.join("g", member_id)
    assert world.answers[first].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    world.pass_ms(6000)
    assert world.answers[second].error_code == ErrorCode.NONE


def test_a_new_member_that_waits_too_long_is_out() -> None:
    world = World()
    leader = world.member_id(rebalance_ms=600_000, session_ms=1_000_000)
    world.join("g", leader, rebalance_ms=600_000, session_ms=1_000_000)
    world.pass_ms(6000)
    world.sync(leader, 1, {})
    newcomer = world.join(version=3)
    world.pass_ms(NEW_MEMBER_TIMEOUT_MS)
    assert world.answers[newcomer].error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_static_member_joins_without_a_second_trip() -> None:
    world = World()
    ticket = world.join(instance="i-1")
    world.pass_ms(6000)
    answer = world.answers[ticket]
    assert answer.error_code == ErrorCode.NONE
    assert answer.member_id.startswith("i-1-")


def static_pair(world: World) -> tuple[str, str]:
    tickets = [world.join(instance=f"i-{n}") for n in (1, 2)]
    world.pass_ms(6000)
    first, second = (world.answers[one].member_id for one in tickets)
    world.sync(first, 1, {first: b"one", second: b"two"})
    world.sync(second, 1)
    return first, second


def test_a_static_member_comes_back_without_anybody_noticing() -> None:
    world = World()
    first, second = static_pair(world)
    answer = world.answers[world.join(instance="i-2")]
    assert (answer.error_code, answer.generation_id, answer.skip_assignment) == (0, 1, False)
    assert answer.member_id != second
    assert world.group().state is STABLE
    assert world.answers[world.sync(answer.member_id, 1)].assignment == b"two"
    assert world.heartbeat(second, 1, "i-2") is ErrorCode.FENCED_INSTANCE_ID
    assert world.heartbeat(second, 1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.heartbeat(first, 1) is ErrorCode.NONE
    world.reload()
    assert world.heartbeat(answer.member_id, 1, "i-2") is ErrorCode.NONE


def test_a_static_leader_that_comes_back_may_skip_its_assignment_if_it_knows_how() -> None:
    world = World()
    first, _ = static_pair(world)
    answer = world.answers[world.join(instance="i-1", version=9)]
    assert answer.skip_assignment
    assert answer.leader == answer.member_id
    assert len(answer.members) == 2
    older = world.answers[world.join(instance="i-1", version=8)]
    assert (older.leader, older.members) == (answer.member_id, [])
    assert first not in world.group().members


def test_a_static_member_that_waits_is_fenced_by_its_next_self() -> None:
    world = World()
    first, second = static_pair(world)
    waiting = world.join("g", first, instance="i-1")
    assert waiting not in world.answers
    replaced = world.join(instance="i-1")
    assert world.answers[waiting].error_code == ErrorCode.FENCED_INSTANCE_ID
    world.join("g", second, instance="i-2")
    assert world.answers[replaced].error_code == ErrorCode.NONE
    assert world.answers[replaced].generation_id == 2


def test_a_static_member_that_comes_back_between_join_and_sync_starts_a_new_round() -> None:
    world = World()
    tickets = [world.join(instance=f"i-{n}") for n in (1, 2)]
    world.pass_ms(6000)
    first, second = (world.answers[one].member_id for one in tickets)
    waiting = world.sync(second, 1)
    ticket = world.join(instance="i-2")
    assert world.answers[waiting].error_code == ErrorCode.FENCED_INSTANCE_ID
    assert world.group().state is PREPARING
    world.join("g", first, instance="i-1")
    assert world.answers[ticket].generation_id == 2


def test_a_static_member_whose_protocols_change_the_choice_starts_a_new_round() -> None:
    world = World()
    both = {"range": b"", "sticky": b""}
    ticket = world.join(instance="i-1", protocols=both)
    world.pass_ms(6000)
    member_id = world.answers[ticket].member_id
    world.sync(member_id, 1, {})
    again = world.join(instance="i-1", protocols={"sticky": b"", "range": b""})
    assert world.answers[again].generation_id == 2
    assert world.answers[again].protocol_name == "sticky"


def test_an_instance_that_is_not_there_or_is_somebody_else_is_refused() -> None:
    world = World()
    first, _ = static_pair(world)
    codes = [
        world.answers[world.join("g", member_id, instance=instance)].error_code
        for member_id, instance in ((first, "i-9"), (first, "i-2"), ("other", None))
    ]
    assert codes == [
        ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID, ErrorCode.UNKNOWN_MEMBER_ID,
    ]  # fmt: skip
