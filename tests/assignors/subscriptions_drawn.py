"""Members and topics for the laws of assignors."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from quire.assignors.subscriptions import Assignment, Subscriber

TOPICS = tuple(bytes([number]) * 16 for number in range(4))
MEMBERS = ("a", "b", "c", "d", "e", "f")

counts = st.dictionaries(st.sampled_from(TOPICS), st.integers(1, 7), min_size=1)
ids = st.lists(st.sampled_from(MEMBERS), unique=True, min_size=1)
some_topics = st.frozensets(st.sampled_from(TOPICS))


@st.composite
def alike(draw: st.DrawFn) -> dict[str, Subscriber]:
    """Members that subscribe to the same."""
    topics = draw(st.frozensets(st.sampled_from(TOPICS), min_size=1))
    return {one: Subscriber(topics, instance_id=draw(instances)) for one in draw(ids)}


@st.composite
def different(draw: st.DrawFn) -> dict[str, Subscriber]:
    return {one: Subscriber(draw(some_topics)) for one in draw(ids)}


instances = st.sampled_from([None, None, "x", "y"])


def known(members: Mapping[str, Subscriber], counts: Mapping[bytes, int]) -> dict[str, Subscriber]:
    """The same, of the topics that there are."""
    return {
        one: member._replace(topics=member.topics & frozenset(counts))
        for one, member in members.items()
    }


def given_back(
    members: Mapping[str, Subscriber], assignment: Mapping[str, Assignment]
) -> dict[str, Subscriber]:
    return {
        one: member._replace(assigned=assignment.get(one, {})) for one, member in members.items()
    }


def places(assignment: Assignment) -> list[tuple[bytes, int]]:
    return [(topic, number) for topic, numbers in assignment.items() for number in numbers]


def check_owners(
    members: Mapping[str, Subscriber],
    counts: Mapping[bytes, int],
    assignment: Mapping[str, Assignment],
) -> None:
    """Every subscribed partition has one owner, who subscribes to it; nothing else is given."""
    given = [place for one in assignment.values() for place in places(one)]
    wanted = {topic for one in members.values() for topic in one.topics}
    expected = [(topic, n) for topic in wanted & set(counts) for n in range(counts[topic])]
    assert sorted(given) == sorted(expected)
    for one, share in assignment.items():
        assert set(share) <= members[one].topics
        assert all(list(numbers) == sorted(numbers) for numbers in share.values())
