from __future__ import annotations

import pytest
from tests.groups.world import subscription

from quire.errors import ErrorCode
from quire.groups.roster import Member, Roster


def member(member_id: str, instance: str | None = None, **protocols: bytes) -> Member:
    return Member(
        member_id,
        instance_id=instance,
        client=("client", "/127.0.0.1"),
        rebalance_timeout_ms=20_000,
        session_timeout_ms=10_000,
        protocols=tuple((protocols or {"range": subscription("orders")}).items()),
    )


def test_when_the_leader_goes_the_oldest_member_leads() -> None:
    group = Roster()
    for name in "abc":
        group.add(member(name))
    group.remove("a")
    assert group.leader == "b"
    group.remove("b")
    group.remove("c")
    assert group.leader is None
    assert group.supported == {}


def test_a_renamed_member_keeps_its_place_and_its_office() -> None:
    group = Roster()
    group.add(member("a", "i-1"))
    group.add(member("b", "i-2"))
    group.unsynced["a"] = None
    group.rename(group.members["a"], "A")
    assert (list(group.members), group.leader) == (["A", "b"], "A")
    assert (group.instances, list(group.unsynced)) == ({"i-1": "A", "i-2": "b"}, ["A"])


def test_only_protocols_that_all_speak_can_be_chosen() -> None:
    roster = Roster()
    roster.add(member("a", x=b"", y=b""))
    roster.add(member("b", y=b"", x=b""))
    roster.add(member("c", y=b"", z=b""))
    assert roster.choose_protocol() == "y"
    roster.remove("c")
    assert roster.choose_protocol() == "x"
    roster.remove("a")
    roster.remove("b")
    assert roster.choose_protocol() is None


def test_who_waits_is_counted_once() -> None:
    roster = Roster()
    first = member("a")
    roster.add(first, 1)
    roster.set_joining(first, 2)
    assert (roster.waiting, roster.has_all_joined) == (1, True)
    roster.expected["b"] = None
    assert not roster.has_all_joined
    roster.remove("b")
    roster.set_joining(first, None)
    roster.check()
    assert (roster.waiting, roster.has_all_joined) == (0, False)


def test_somebody_is_who_it_says_by_id_and_by_instance() -> None:
    roster = Roster()
    roster.add(member("a", "i-1"))
    roster.add(member("b"))
    codes = [
        roster.validate(member_id, instance)
        for member_id, instance in (
            ("a", None),
            ("a", "i-1"),
            ("b", "i-1"),
            ("b", "i-2"),
            ("c", None),
        )
    ]
    assert codes == [
        ErrorCode.NONE,
        ErrorCode.NONE,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
    ]


def test_a_damaged_roster_is_noticed() -> None:
    roster = Roster()
    roster.add(member("a"))
    roster.waiting = 1
    with pytest.raises(AssertionError, match="I1"):
        roster.check()
