from __future__ import annotations

from tests.groups.consumer_world import ConsumerWorld

from quire.groups.classic import ClassicGroup
from quire.groups.consumer_group import ConsumerGroup
from quire.groups.describing import DeleteGroups
from quire.groups.directory import Directory
from quire.groups.stored import Stored


def test_a_group_is_what_is_written_of_it() -> None:
    world = ConsumerWorld(orders=1)
    world.consumer("a", "orders", group_id="new")
    world.stable(group_id="old")
    world.commit(1, group_id="offsets only")
    kinds = {one.group_id: type(one) for one in Directory(world.machine.stored).all()}
    assert kinds == {"new": ConsumerGroup, "old": ClassicGroup, "offsets only": ClassicGroup}


def test_what_nobody_speaks_of_is_no_group() -> None:
    assert Directory(Stored()).find("g") is None


def test_a_group_that_was_deleted_begins_anew() -> None:
    world = ConsumerWorld(orders=1)
    world.consumer("a", "orders").leave()
    world.answer(DeleteGroups(("g",)))
    assert world.machine.find("g") is None
    assert world.consumer("b", "orders").epoch == 2


def test_a_group_has_soft_state_of_one_kind() -> None:
    groups = Directory(Stored())
    groups.put_classic(ClassicGroup("g", 0))
    groups.put_consumer(ConsumerGroup("g"))
    groups.check()
    assert groups.classic == {}
    groups.put_classic(ClassicGroup("g", 0))
    groups.check()
    groups.drop("g")
    assert groups.all() == []
