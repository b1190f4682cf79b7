from __future__ import annotations

from typing import Any

import pytest
from tests.groups.world import World, subscription

from quire.coordination import KeyValue
from quire.errors import ErrorCode
from quire.groups.describing import DeleteGroups, DescribeGroup, ListGroups


def described(world: World, group_id: str = "g", version: int = 6) -> Any:
    return world.answer(DescribeGroup(group_id), version)


def names(world: World, **filters: Any) -> list[tuple[str, str, str, str]]:
    return [
        (one.group_id, one.protocol_type, one.group_state, one.group_type)
        for one in world.answer(ListGroups(**filters), 5)
    ]


def codes(world: World, *group_ids: str) -> list[int]:
    return [one.error_code for one in world.answer(DeleteGroups(group_ids), 2)]


def test_a_stable_group_is_described_with_all_that_its_members_said_and_got() -> None:
    world = World()
    (leader,) = world.stable(client="app")
    found = described(world)
    assert (found.error_code, found.group_state, found.protocol_type, found.protocol_data) == (
        0, "Stable", "consumer", "range",
    )  # fmt: skip
    (member,) = found.members
    assert (member.member_id, member.client_id, member.client_host) == (leader, "app", "/127.0.0.1")
    assert member.member_metadata == subscription("orders")
    assert member.member_assignment == b"share of 0"


def test_of_a_group_on_its_way_what_members_said_is_not_told() -> None:
    world = World()
    leader, _ = world.stable(2)
    world.join("g", leader)
    found = described(world)
    assert (found.group_state, found.protocol_data) == ("PreparingRebalance", "")
    assert [(one.member_metadata, one.member_assignment) for one in found.members] == [
        (b"", b"share of 0"), (b"", b"share of 1"),
    ]  # fmt: skip


@pytest.mark.parametrize(("version", "code"), [(5, 0), (6, ErrorCode.GROUP_ID_NOT_FOUND)])
def test_a_group_that_is_not_there_is_dead(version: int, code: int) -> None:
    found = described(World(), "nobody", version)
    assert (found.error_code, found.group_state) == (code, "Dead")
    assert found.error_message == ("Group nobody not found." if code else None)


def test_groups_are_listed_with_their_kind_and_state_and_can_be_filtered() -> None:
    world = World()
    world.stable()
    world.commit(1, group_id="plain")
    world.machine.replay(KeyValue(b"\x00\x0b\x00\x01s", b"\x00\x00"), offset=99, producer=None)
    everything = [
        ("g", "consumer", "Stable", "classic"),
        ("plain", "", "Empty", "classic"),
        ("s", "share", "Empty", "share"),
    ]
    assert sorted(names(world)) == everything
    assert names(world, states=frozenset({"stable"})) == everything[:1]
    assert names(world, types=frozenset({"share"})) == everything[2:]
    assert names(world, types=frozenset({"classic"}), states=frozenset({"empty"})) == [
        everything[1]
    ]
    assert names(world, types=frozenset({"unheard-of"})) == []


def test_a_group_without_members_is_deleted_with_its_offsets() -> None:
    world = World()
    (leader,) = world.stable()
    world.commit(1, member_id=leader, generation=1)
    assert codes(world, "g", "other") == [ErrorCode.NON_EMPTY_GROUP, ErrorCode.GROUP_ID_NOT_FOUND]
    world.leave((leader, None))
    assert codes(world, "g", "g") == [ErrorCode.NONE]
    assert world.machine.stored == type(world.machine.stored)()
    assert described(world).group_state == "Dead"
    assert codes(world, "g") == [ErrorCode.GROUP_ID_NOT_FOUND]


def test_who_was_about_to_join_a_deleted_group_must_begin_anew() -> None:
    world = World()
    member_id = world.member_id()
    assert codes(world, "g") == [ErrorCode.NONE]
    assert world.answers[world.join("g", member_id)].error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert [key for key in world.timers if isinstance(key, tuple)] == []
