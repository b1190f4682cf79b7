from __future__ import annotations

from tests.groups.world import SESSION_MS, World

from quire.errors import ErrorCode
from quire.groups.states import EMPTY, PREPARING, STABLE


def completing(world: World, count: int = 2) -> list[str]:
    ids = [world.member_id() for _ in range(count)]
    for one in ids:
        world.join("g", one)
    world.pass_ms(6000)
    return ids


def test_the_leader_s_assignment_is_given_to_everybody_who_waits_and_who_comes_later() -> None:
    world = World()
    leader, early, late = completing(world, 3)
    waiting = world.sync(early, 1)
    assert waiting not in world.answers
    own = world.sync(leader, 1, {leader: b"L", early: b"E"})
    assert world.answers[own].assignment == b"L"
    answer = world.answers[waiting]
    assert (answer.assignment, answer.protocol_type, answer.protocol_name) == (
        b"E", "consumer", "range",
    )  # fmt: skip
    assert world.answers[world.sync(late, 1)].assignment == b""
    assert world.group().state is STABLE


def test_an_assignment_of_somebody_who_does_not_lead_is_not_taken() -> None:
    world = World()
    _, follower = completing(world)
    waiting = world.sync(follower, 1, {follower: b"everything"})
    assert waiting not in world.answers
    assert world.group().members[follower].assignment == b""


def test_who_asks_for_an_assignment_twice_gets_one() -> None:
    world = World()
    leader, follower = completing(world)
    first, second = world.sync(follower, 1), world.sync(follower, 1)
    assert world.answers[first].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    world.sync(leader, 1, {follower: b"F"})
    assert world.answers[second].assignment == b"F"


def test_syncs_that_belong_to_no_present_generation_are_refused() -> None:
    world = World()
    (leader,) = world.stable()
    codes = [
        world.answers[one].error_code
        for one in (
            world.sync(leader, 0),
            world.sync(leader, 2),
            world.sync("other", 1),
            world.sync(leader, 1, group_id="other"),
            world.sync(leader, 1, group_id=""),
            world.sync(leader, 1, group_instance_id="i-1"),
            world.sync(leader, 1, protocol_type="connect"),
            world.sync(leader, 1, protocol_name="sticky"),
        )
    ]
    assert codes == [
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.INVALID_GROUP_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
    ]


def test_heartbeats_say_how_things_stand() -> None:
    world = World()
    leader, follower = completing(world)
    assert world.heartbeat(leader, 1) is ErrorCode.NONE
    world.sync(leader, 1, {})
    world.sync(follower, 1)
    assert world.heartbeat(leader, 1) is ErrorCode.NONE
    assert world.heartbeat(leader, 0) is ErrorCode.ILLEGAL_GENERATION
    world.join("g", leader)
    assert world.heartbeat(follower, 1) is ErrorCode.REBALANCE_IN_PROGRESS
    answer = world.answers[world.sync(follower, 1)]
    assert answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert world.heartbeat("other", 1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.heartbeat(leader, 1, group_id="other") is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.heartbeat(leader, 1, group_id="") is ErrorCode.INVALID_GROUP_ID


def test_heartbeats_keep_a_member_and_silence_loses_it() -> None:
    world = World()
    leader, follower = world.stable(2)
    for _ in range(2):
        world.pass_ms(SESSION_MS - 1)
        assert world.heartbeat(leader, 1) in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)
    assert follower not in world.group().members
    assert list(world.group().members) == [leader]
    assert world.group().state is PREPARING


def test_commits_show_life_too() -> None:
    world = World()
    (leader,) = world.stable()
    for offset in range(5):
        world.pass_ms(SESSION_MS - 1)
        assert world.commit(offset, member_id=leader, generation=1) is ErrorCode.NONE
    assert world.group().state is STABLE


def test_who_leaves_hands_its_work_to_the_others() -> None:
    world = World()
    leader, follower = world.stable(2)
    assert world.leave((leader, None)) == [ErrorCode.NONE]
    assert world.group().leader == follower
    answer = world.answers[world.join("g", follower)]
    assert (answer.generation_id, len(answer.members)) == (2, 1)


def test_when_the_last_one_leaves_the_group_is_written_as_empty() -> None:
    world = World()
    (leader,) = world.stable()
    before = len(world.log)
    assert world.leave((leader, None)) == [ErrorCode.NONE]
    assert len(world.log) == before + 1
    stored = world.machine.stored.groups["g"]
    assert (stored.generation, stored.protocol, stored.leader, stored.members) == (
        2,
        None,
        None,
        (),
    )
    assert stored.protocol_type == "consumer"
    assert world.group().state is EMPTY
    assert world.heartbeat(leader, 1) is ErrorCode.UNKNOWN_MEMBER_ID


def test_several_leave_at_once_each_with_an_answer() -> None:
    world = World()
    pending = world.member_id()
    tickets = [world.join(instance=f"i-{n}") for n in (1, 2)]
    world.pass_ms(SESSION_MS)
    first, second = (world.answers[one].member_id for one in tickets)
    pending = world.member_id()
    codes = world.leave(
        ("", "i-1"), (pending, None), (second, "i-1"), ("other", None), ("", "i-9"), ("", None)
    )
    assert codes == [
        ErrorCode.NONE,
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
    ]
    assert first not in world.group().members
    assert world.leave((second, "i-2"), group_id="other") == [ErrorCode.UNKNOWN_MEMBER_ID]


def test_who_leaves_while_it_waits_is_told_so() -> None:
    world = World()
    leader, follower = world.stable(2)
    waiting = world.join("g", leader)
    world.leave((leader, None))
    assert world.answers[waiting].error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert list(world.group().members) == [follower]
