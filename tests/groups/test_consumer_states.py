from __future__ import annotations

from tests.groups.consumer_world import ConsumerWorld

from quire.groups.consumer_states import MemberState, state_of


def test_a_state_that_a_later_version_writes_is_unknown() -> None:
    assert [state_of(number) for number in (0, 1, 2, 3)] == [
        MemberState.STABLE,
        MemberState.UNREVOKED_PARTITIONS,
        MemberState.UNRELEASED_PARTITIONS,
        MemberState.UNKNOWN,
    ]


def test_a_group_goes_from_assigning_over_reconciling_to_stable_and_ends_empty() -> None:
    world = ConsumerWorld(orders=4)
    a = world.consumer("a", "orders")
    seen = [world.described().group_state]
    b = world.consumer("b", "orders")
    seen.append(world.described().group_state)
    world.pass_ms(1_000)
    a.beat()
    seen.append(world.described().group_state)
    world.settle(a, b)
    seen.append(world.described().group_state)
    a.leave()
    b.leave()
    seen.append(world.described().group_state)
    assert seen == ["Stable", "Assigning", "Reconciling", "Stable", "Empty"]
