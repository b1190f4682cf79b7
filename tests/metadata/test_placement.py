from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metadata.golden_log import LOG, THREE_NODES, replayed

from quire.metadata.placement import PlacementError, UsableBroker, place
from quire.sim.entropy import SeededEntropy

brokers = st.lists(
    st.builds(
        UsableBroker,
        st.integers(0, 1000),
        st.sampled_from([None, "a", "b", "c", "d"]),
        st.sampled_from([False, False, False, True]),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda broker: broker.broker_id,
)


class Start:
    """Draws what it was told, then zeros."""

    def __init__(self, *draws: int) -> None:
        self.draws = list(draws)

    def below(self, limit: int) -> int:
        return (self.draws.pop(0) if self.draws else 0) % limit

    def bytes(self, size: int) -> bytes:
        return bytes(size)


def usable(count, racks=(None,)):
    return [UsableBroker(number, racks[number % len(racks)]) for number in range(count)]


@given(brokers, st.integers(1, 30), st.integers(1, 12), st.integers(0, 2**32))
def test_replicas_are_distinct_and_the_first_is_alive(listed, partitions, replicas, seed):
    alive = {one.broker_id for one in listed if not one.fenced}
    if not alive or replicas > len(listed):
        with pytest.raises(PlacementError):
            place(listed, partitions, replicas, SeededEntropy(seed))
        return
    placed = place(listed, partitions, replicas, SeededEntropy(seed))
    assert len(placed) == partitions
    for one in placed:
        assert len(set(one)) == len(one) == replicas
        assert one[0] in alive
        fenced = [broker not in alive for broker in one]
        assert fenced == sorted(fenced), "the fenced stand behind the living"


@given(
    st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.integers(1, 40), st.integers(0, 99)
)
def test_with_racks_enough_no_two_replicas_share_one(racks, each, replicas, partitions, seed):
    listed = [UsableBroker(r * 10 + n, f"rack{r}") for r in range(racks) for n in range(each)]
    if replicas > racks:
        return
    for one in place(listed, partitions, replicas, SeededEntropy(seed)):
        assert len({broker // 10 for broker in one}) == replicas


@given(st.integers(1, 9), st.integers(1, 60), st.integers(0, 99))
def test_in_one_rack_leaderships_differ_by_at_most_one(count, partitions, seed):
    leaders = Counter(one[0] for one in place(usable(count), partitions, 1, SeededEntropy(seed)))
    loads = [leaders[number] for number in range(count)]
    assert max(loads) - min(loads) <= 1


@given(st.integers(2, 6), st.integers(0, 99))
def test_a_brokers_followers_are_spread_over_the_others(count, seed):
    laps = count * (count - 1)
    placed = place(usable(count), laps, 2, SeededEntropy(seed))
    assert len({tuple(one) for one in placed}) == laps, "every ordered pair of brokers once"


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 5), st.integers(0, 99))
def test_leaders_are_balanced_over_equal_racks(racks, each, laps, seed):
    listed = [UsableBroker(r * 10 + n, f"rack{r}") for r in range(racks) for n in range(each)]
    placed = place(listed, laps * racks * each, min(2, len(listed)), SeededEntropy(seed))
    assert set(Counter(one[0] for one in placed).values()) == {laps}


def test_three_brokers_give_the_pattern_that_kafka_wrote_for_its_first_six_partitions():
    topic = replayed(THREE_NODES / LOG).image.topics["r3"]
    theirs = [list(topic.partitions[index].replicas) for index in range(6)]
    listed = [UsableBroker(number) for number in (1, 2, 3)]
    ours = place(listed, 6, 3, Start(1))
    assert [one[0] for one in ours[:3]] == [one[0] for one in theirs[:3]]
    assert ours[:3] == theirs[:3]


def test_the_same_draws_give_the_same_placement():
    first = place(usable(5, ("a", "b")), 20, 3, SeededEntropy(7))
    assert first == place(usable(5, ("a", "b")), 20, 3, SeededEntropy(7))
    assert first != place(usable(5, ("a", "b")), 20, 3, SeededEntropy(8))


@pytest.mark.parametrize(
    ("listed", "replicas", "reason"),
    [
        (usable(2), 3, "only 2 broker"),
        (usable(2), 0, "cannot have 0"),
        ([UsableBroker(1, None, fenced=True)], 1, "All brokers are currently fenced"),
        ([], 1, "All brokers are currently fenced"),
    ],
)
def test_what_cannot_be_placed_is_refused_with_its_reason(listed, replicas, reason):
    with pytest.raises(PlacementError, match=reason):
        place(listed, 1, replicas, Start())
