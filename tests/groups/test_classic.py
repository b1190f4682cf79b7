from __future__ import annotations

import pytest
from tests.groups.test_roster import member
from tests.groups.world import World, subscription

from quire.groups.classic import ClassicGroup
from quire.groups.keys import read_group_value
from quire.groups.states import EMPTY, STABLE


def test_a_group_is_what_its_record_says_and_says_it_again() -> None:
    world = World()
    world.stable(2)
    group = world.group()
    record = group.record()
    assert record.value is not None
    again = ClassicGroup.of("g", read_group_value(record.value))
    again.check()
    assert again.state is STABLE
    assert again.record() == record


def test_an_empty_group_s_record_has_no_members_and_makes_an_empty_group() -> None:
    group = ClassicGroup("g", 5)
    value = group.record().value
    assert value is not None
    stored = read_group_value(value)
    assert stored == ("", 0, None, None, 5, ())
    assert ClassicGroup.of("g", stored).state is EMPTY


def test_what_members_read_follows_their_subscriptions() -> None:
    group = ClassicGroup("g", 0)
    group.protocol_type, group.protocol = "consumer", "range"
    first = member("a")
    group.add(first)
    group.add(member("b", range=subscription("sales")))
    assert list(group.subscribed() or ()) == ["orders", "sales"]
    group.change_protocols(first, (("range", subscription("other")),))
    assert list(group.subscribed() or ()) == ["other", "sales"]
    group.change_protocols(first, (("range", b"\x00"),))
    assert group.subscribed() is None
    assert group.is_subscribed("anything")  # who reads what is not known: nothing may be lost


def test_a_state_is_followed_by_its_followers_only() -> None:
    group = ClassicGroup("g", 0)
    with pytest.raises(AssertionError, match="I1"):
        group.become(STABLE, 1)


def test_a_damaged_group_is_noticed() -> None:
    group = ClassicGroup("g", 0)
    group.state = STABLE
    with pytest.raises(AssertionError, match="I2"):
        group.check()
