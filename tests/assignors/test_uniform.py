from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st
from tests.assignors import subscriptions_drawn as drawn
from tests.assignors.subscriptions_drawn import TOPICS, given_back, known, places

from quire.assignors.subscriptions import Subscriber
from quire.assignors.uniform import assign

ONE, TWO = TOPICS[:2]
either = st.one_of(drawn.alike(), drawn.different())


def test_a_second_member_takes_the_upper_half() -> None:
    first = Subscriber(frozenset({ONE}), {ONE: (0, 1, 2, 3)})
    found = assign({"a": first, "b": Subscriber(frozenset({ONE}))}, {ONE: 4})
    assert found == {"a": {ONE: (0, 1)}, "b": {ONE: (2, 3)}}


def test_nobody_gets_anything_of_nothing() -> None:
    assert assign({}, {ONE: 3}) == {}
    assert assign({"a": Subscriber(frozenset())}, {ONE: 3}) == {"a": {}}


def test_who_may_read_more_leaves_the_rest_to_who_may_not() -> None:
    members = {"a": Subscriber(frozenset({ONE, TWO})), "b": Subscriber(frozenset({ONE}))}
    found = assign(members, {ONE: 3, TWO: 3})
    assert found == {"a": {TWO: (0, 1, 2)}, "b": {ONE: (0, 1, 2)}}


def test_partitions_that_are_gone_are_taken_away() -> None:
    one = Subscriber(frozenset({ONE}), {ONE: (0, 5), TWO: (0,)})
    assert assign({"a": one}, {ONE: 2, TWO: 1}) == {"a": {ONE: (0, 1)}}


@given(either, drawn.counts)
def test_every_subscribed_partition_has_one_owner_who_subscribes(
    members: Mapping[str, Subscriber], counts: Mapping[bytes, int]
) -> None:
    members = known(members, counts)
    drawn.check_owners(members, counts, assign(members, counts))


@given(drawn.alike(), drawn.counts)
def test_equal_subscriptions_are_balanced_within_one(
    members: Mapping[str, Subscriber], counts: Mapping[bytes, int]
) -> None:
    sizes = [len(places(one)) for one in assign(known(members, counts), counts).values()]
    assert max(sizes) - min(sizes) <= 1


@given(drawn.different(), drawn.counts)
def test_with_different_subscriptions_no_move_would_help(
    members: Mapping[str, Subscriber], counts: Mapping[bytes, int]
) -> None:
    members = known(members, counts)
    found = assign(members, counts)
    sizes = {one: len(places(share)) for one, share in found.items()}
    for owner, share in found.items():
        for topic in share:
            readers = [one for one in members if topic in members[one].topics]
            assert all(sizes[owner] - sizes[one] <= 1 for one in readers)


@given(either, drawn.counts)
def test_nothing_moves_when_nothing_has_changed(
    members: Mapping[str, Subscriber], counts: Mapping[bytes, int]
) -> None:
    members = known(members, counts)
    first = assign(members, counts)
    assert assign(given_back(members, first), counts) == first


@given(drawn.alike(), drawn.counts)
def test_who_stays_keeps_everything_when_another_leaves(
    members: Mapping[str, Subscriber], counts: Mapping[bytes, int]
) -> None:
    members = known(members, counts)
    first = assign(members, counts)
    gone = min(members)
    left = {one: member for one, member in given_back(members, first).items() if one != gone}
    after = assign(left, counts)
    for one in left:
        assert set(places(first[one])) <= set(places(after[one]))


@given(drawn.alike(), drawn.counts, st.sampled_from(["a0", "zz"]))
def test_a_new_member_takes_no_more_than_its_share(
    members: Mapping[str, Subscriber], counts: Mapping[bytes, int], who: str
) -> None:
    members = known(members, counts)
    before = assign(members, counts)
    joined = {**given_back(members, before), who: next(iter(members.values()))._replace(
        assigned={}, instance_id=None
    )}  # fmt: skip
    after = assign(joined, counts)
    moved = [
        place for one in members for place in places(before[one]) if place not in places(after[one])
    ]
    assert len(moved) == len(places(after[who]))


@given(either, drawn.counts)
def test_the_same_members_in_another_order_have_the_same(
    members: Mapping[str, Subscriber], counts: Mapping[bytes, int]
) -> None:
    members = known(members, counts)
    static = [one.instance_id for one in members.values() if one.instance_id is not None]
    if len(set(static)) == len(static):
        assert assign(dict(reversed(members.items())), counts) == assign(members, counts)
