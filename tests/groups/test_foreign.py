from __future__ import annotations

import pytest
from tests.groups.world import World

from quire.coordination import KeyValue
from quire.errors import ErrorCode
from quire.groups.describing import DeleteGroups, DescribeGroup
from quire.groups.foreign import ForeignGroup
from quire.groups.kinds import GroupType


def key(kind: int, group_id: str = "f", rest: bytes = b"") -> bytes:
    return kind.to_bytes(2, "big") + len(group_id).to_bytes(2, "big") + group_id.encode() + rest


def replay(world: World, *entries: tuple[bytes, bytes | None]) -> None:
    for one in entries:
        world.log.append((KeyValue(*one), world.end_offset, None))
        world.machine.replay(KeyValue(*one), offset=world.end_offset, producer=None)
        world.end_offset += 1


@pytest.mark.parametrize(
    ("kinds", "expected", "is_empty"),
    [
        ((11, 15), GroupType.SHARE, True),
        ((10, 11), GroupType.SHARE, False),
        ((17, 23), GroupType.STREAMS, True),
        ((17, 19), GroupType.STREAMS, False),
    ],
)
def test_a_group_s_kind_and_members_follow_from_its_keys(
    kinds: tuple[int, ...], expected: GroupType, is_empty: bool
) -> None:
    group = ForeignGroup("f", {key(kind): b"\x00\x00" for kind in kinds})
    assert (group.group_type, group.is_empty) == (expected, is_empty)


def test_nobody_joins_or_commits_to_a_group_of_another_kind_that_has_members() -> None:
    world = World()
    replay(world, (key(11), b"\x00\x00"), (key(10), b"\x00\x00"))
    answer = world.answers[world.join("f")]
    assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert world.commit(1, group_id="f", generation=-1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.heartbeat("m", 1, group_id="f") is ErrorCode.UNKNOWN_MEMBER_ID
    described = world.answer(DescribeGroup("f"), 6)
    assert described.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert described.error_message == "Group f is not a classic group."
    (result,) = world.answer(DeleteGroups(("f",)), 2)
    assert result.error_code == ErrorCode.NON_EMPTY_GROUP
    assert world.fetched(group_id="f") == [-1]


def test_an_empty_one_makes_room_for_a_classic_group_or_is_deleted_whole() -> None:
    for wish in ("join", "delete"):
        world = World()
        replay(world, (key(11), b"\x00\x00"), (key(12), b"\x00\x00"))
        assert world.commit(1, group_id="f") is ErrorCode.NONE
        if wish == "join":
            assert world.member_id("f")
        else:
            (result,) = world.answer(DeleteGroups(("f",)), 2)
            assert result.error_code == ErrorCode.NONE
        assert world.machine.stored.foreign == {}
        assert ("f" in world.machine.stored.groups) == (wish == "join")
        assert world.replayed().stored == world.machine.stored


def test_nothing_of_another_kind_expires_here() -> None:
    world = World(offsets_retention_ms=1000, offsets_check_interval_ms=1000)
    replay(world, (key(11), b"\x00\x00"))
    world.commit(1, group_id="f")
    world.pass_ms(10_000)
    assert world.all_offsets("f") == {("orders", 0): 1}
