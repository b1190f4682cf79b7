from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from tests.assignors import subscriptions_drawn as drawn
from tests.assignors.subscriptions_drawn import TOPICS

from quire.assignors.ranges import assign
from quire.assignors.subscriptions import Subscriber

ONE, TWO = TOPICS[:2]


def test_the_first_readers_have_one_more_and_topics_of_one_size_are_cut_alike() -> None:
    both = Subscriber(frozenset({ONE, TWO}))
    found = assign({"c": both, "a": both, "b": both}, {ONE: 4, TWO: 4})
    assert found == {
        "a": {ONE: (0, 1), TWO: (0, 1)},
        "b": {ONE: (2,), TWO: (2,)},
        "c": {ONE: (3,), TWO: (3,)},
    }


def test_a_topic_is_shared_by_its_readers_only() -> None:
    members = {"a": Subscriber(frozenset({ONE})), "b": Subscriber(frozenset({ONE, TWO}))}
    assert assign(members, {ONE: 2, TWO: 2}) == {"a": {ONE: (0,)}, "b": {ONE: (1,), TWO: (0, 1)}}


@given(drawn.different(), drawn.counts)
def test_every_subscribed_partition_has_one_owner_and_no_reader_two_more_than_another(
    members: Mapping[str, Subscriber], counts: Mapping[bytes, int]
) -> None:
    members = drawn.known(members, counts)
    found = assign(members, counts)
    drawn.check_owners(members, counts, found)
    for topic in counts:
        sizes = [len(found[one].get(topic, ())) for one in members if topic in members[one].topics]
        assert not sizes or max(sizes) - min(sizes) <= 1


@given(drawn.different(), drawn.counts)
def test_the_same_members_in_another_order_have_the_same(
    members: Mapping[str, Subscriber], counts: Mapping[bytes, int]
) -> None:
    members = drawn.known(members, counts)
    assert assign(dict(reversed(members.items())), counts) == assign(members, counts)
