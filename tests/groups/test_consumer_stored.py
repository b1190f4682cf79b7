from __future__ import annotations

import pytest
from tests.groups.consumer_world import ConsumerWorld, topic_id
from tests.groups.golden import entries

from quire.groups import consumer_records as records
from quire.groups.consumer_states import STABLE, UNREVOKED
from quire.groups.consumer_stored import ConsumerStored
from quire.groups.consumer_values import Holding, Wishes
from quire.groups.stored import Stored

ORDERS = topic_id("orders")


def test_a_copy_is_equal_and_changes_alone() -> None:
    one = ConsumerStored()
    one.put_member(Wishes("m", instance_id="i", pattern="o.*"))
    one.put_holding("m", Holding(3, 2, STABLE, {ORDERS: {0: 3}}))
    twin = one.copy()
    assert twin == one
    twin.put_holding("m", None)
    twin.remove_member("m")
    assert (twin.owners, twin.instances, twin.readers) == ({}, {}, {})
    assert one.owners == {(ORDERS, 0): "m"}
    one.check()
    twin.check()


def test_what_is_to_be_given_back_is_still_held() -> None:
    one = ConsumerStored()
    one.put_member(Wishes("m"))
    one.put_holding("m", Holding(3, 2, UNREVOKED, {ORDERS: {0: 3}}, {ORDERS: {1: 2}}))
    assert one.owners == {(ORDERS, 0): "m", (ORDERS, 1): "m"}
    assert not one.is_settled("m")


def test_two_owners_of_a_partition_break_the_invariant() -> None:
    one = ConsumerStored()
    for member_id in ("a", "b"):
        one.put_member(Wishes(member_id))
        one.put_holding(member_id, Holding(1, 1, STABLE, {ORDERS: {0: 1}}))
    with pytest.raises(AssertionError, match="I1"):
        one.check()


def test_the_end_of_a_group_takes_everything_and_lonely_tombstones_make_none() -> None:
    stored = Stored()
    for kind, name in ((records.CURRENT, "m"), (records.GROUP_EPOCH, None)):
        stored.replay(records.tombstone(kind, "g", name), 0, None)
    assert stored.consumers == {}
    world = ConsumerWorld(orders=2)
    world.consumer("a", "orders").leave()
    group = world.consumers()
    for number, record in enumerate(group.tombstones()):
        world.machine.replay(record, offset=number, producer=None)
    assert world.machine.stored.consumers == {}


def test_kafka_s_own_consumer_groups_are_loaded() -> None:
    stored = Stored()
    seen: dict[str, int] = {}
    for offset, record, owner, committed in entries(0):
        if committed is None:
            stored.replay(record, offset, owner)
            for group_id, group in stored.consumers.items():
                group.check()
                seen[group_id] = max(seen.get(group_id, 0), len(group.members))
    assert seen == {"g-consumer": 1, "g-java848": 1}
    left = stored.consumers["g-consumer"]
    assert (left.epoch, left.members, left.owners) == (3, {}, {})
