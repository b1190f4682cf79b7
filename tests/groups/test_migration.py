from __future__ import annotations

from tests.groups.consumer_world import ConsumerWorld, topic_id
from tests.groups.test_consumer_classic import join, said, synced
from tests.groups.test_consumer_heartbeat import kinds

from quire.errors import ErrorCode
from quire.groups.classic import ClassicGroup
from quire.groups.consumer_classic import write_assignment
from quire.groups.consumer_group import ConsumerGroup
from quire.groups.states import PREPARING
from quire.groups.states import STABLE as CLASSIC_STABLE
from quire.groups.step import Migration

ORDERS = topic_id("orders")


def classic_group(world: ConsumerWorld) -> list[str]:
    """A stable classic group of two, each with half of the orders."""
    protocols = {"cooperative-sticky": said()}
    ids = [world.member_id(protocols=protocols) for _ in range(2)]
    tickets = [world.join(member_id=one, protocols=protocols) for one in ids]
    world.pass_ms(6_000)
    assert world.answers[tickets[0]].generation_id == 1
    shares = ({ORDERS: {0: 0, 1: 0}}, {ORDERS: {2: 0, 3: 0}})
    plan = {
        one: write_assignment(share, 3, world.image) for one, share in zip(ids, shares, strict=True)
    }
    for one in ids:
        world.sync(one, 1, plan if one == ids[0] else None)
    return ids


def test_a_classic_group_becomes_a_consumer_group_and_everybody_keeps_what_it_has() -> None:
    world = ConsumerWorld(orders=4)
    one, two = classic_group(world)
    written = len(world.log)
    a = world.consumer("a", "orders")
    assert kinds(world, written)[:10] == [2, 5, 5, 3, 7, 7, 6, 8, 8, 5]
    stored = world.consumers().stored
    assert (stored.epoch, a.owned, a.epoch) == (2, {}, 2)
    assert stored.holding(one).assigned == {ORDERS: {0: 1, 1: 1}}
    for member_id, half in ((one, (0, 1)), (two, (2, 3))):
        assert world.heartbeat(member_id, 1) is ErrorCode.REBALANCE_IN_PROGRESS
        generation = join(world, member_id, said(half, 1)).generation_id
        kept = synced(world, member_id, generation)
        if generation == 1:
            join(world, member_id, said(tuple(kept), 1))
    a.beat()
    given = [*a.owned.get(ORDERS, ()), *synced(world, one, 2), *synced(world, two, 2)]
    assert sorted(given) == [0, 1, 2, 3]
    assert world.replayed().stored == world.machine.stored


def test_classic_members_that_wait_are_told_to_ask_again() -> None:
    world = ConsumerWorld(orders=4)
    one, two = classic_group(world)
    waits = world.join(member_id=one, protocols={"cooperative-sticky": said((0,), 1)})
    assert waits not in world.answers
    world.consumer("a", "orders")
    assert world.answers[waits].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert {key[0] for key in world.timers if isinstance(key, tuple)} == {"consumer session"}
    assert set(world.consumers().stored.members) == {one, two, "a"}


def test_without_its_last_new_member_a_group_is_classic_again() -> None:
    world = ConsumerWorld(orders=4)
    one, two = classic_group(world)
    a = world.consumer("a", "orders")
    generation = join(world, one, said((0, 1), 1)).generation_id
    a.leave()
    group = world.group()
    assert isinstance(group, ClassicGroup)
    assert (group.state, group.generation) == (PREPARING, 2)
    assert set(group.members) == {one, two}
    assert not world.machine.stored.consumers
    assert world.heartbeat(one, 2) is ErrorCode.REBALANCE_IN_PROGRESS
    assert generation == 1
    tickets = [
        world.join(member_id=member_id, protocols={"cooperative-sticky": said()})
        for member_id in (one, two)
    ]
    assert [world.answers[ticket].generation_id for ticket in tickets] == [3, 3]
    assert world.replayed().stored == world.machine.stored


def test_a_fenced_member_may_be_the_last_one_too() -> None:
    world = ConsumerWorld(orders=4)
    one, two = classic_group(world)
    world.consumer("a", "orders")
    for _ in range(9):
        world.pass_ms(5_000)
        for member_id in (one, two):
            found = world.machine.find("g")
            if isinstance(found, ConsumerGroup):
                join(world, member_id, said((), 2))
    assert set(world.group().members) == {one, two}


def test_a_static_classic_member_in_the_place_of_the_last_new_one_keeps_everything() -> None:
    world = ConsumerWorld(orders=2)
    world.consumer("a", "orders", instance="i")
    answer = join(world, "", instance="i")
    assert (answer.error_code, answer.generation_id) == (0, 2)
    group = world.group()
    assert (group.state, group.generation) == (CLASSIC_STABLE, 2)
    assert synced(world, answer.member_id, 2) == [0, 1]
    assert world.heartbeat(answer.member_id, 2, "i") is ErrorCode.NONE
    assert world.replayed().stored == world.machine.stored


def test_policies_forbid_one_way_or_both() -> None:
    for upgrades, downgrades in ((False, False), (False, True), (True, False)):
        world = ConsumerWorld({"migration": Migration(upgrades, downgrades)}, orders=4)
        classic_group(world)
        answer = world.join_new("a", "orders")
        if not upgrades:
            assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
            assert answer.error_message == "Group g is not a consumer group."
            continue
        world.beat("a", -1)
        assert isinstance(world.machine.find("g"), ConsumerGroup)


def test_a_group_without_members_changes_whatever_the_policy() -> None:
    never = {"migration": Migration(upgrades=False, downgrades=False)}
    world = ConsumerWorld(never, orders=4)
    world.leave(*((one, None) for one in classic_group(world)))
    world.commit(3)
    a = world.consumer("a", "orders")
    assert a.epoch == 2
    assert not world.machine.stored.groups
    assert world.all_offsets() == {("orders", 0): 3}
    a.leave()
    assert world.member_id()
    assert not world.machine.stored.consumers
    assert world.all_offsets() == {("orders", 0): 3}
    assert world.replayed().stored == world.machine.stored


def test_groups_of_other_protocols_stay_what_they_are() -> None:
    world = ConsumerWorld(orders=4)
    world.stable(protocol_type="connect", protocols={"x": b""})
    assert world.join_new("a", "orders").error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert isinstance(world.machine.find("g"), ClassicGroup)
