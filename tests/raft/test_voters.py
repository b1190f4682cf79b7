"""raft.voters: sets out of records and settings, and what a majority is."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.raft.voters import Voter, VoterEndpoint, VotersError, VoterSet

DIRECTORY = b"d" * 16


def voters(count: int) -> VoterSet:
    return VoterSet(Voter(one) for one in range(1, count + 1))


def test_a_set_out_of_the_setting_has_ids_and_addresses_and_no_directories() -> None:
    found = VoterSet.of_setting(("2@b:9093", "1@[::1]:9094"), "CONTROLLER")
    assert found.ids == (1, 2)
    assert found.get(1) == Voter(1, endpoints=(VoterEndpoint("CONTROLLER", "::1", 9094),))


@pytest.mark.parametrize("item", ["1", "1@b", "@b:1", "x@b:1", "1@b:x"])
def test_what_is_no_voter_is_refused_by_name_of_the_setting(item: str) -> None:
    with pytest.raises(VotersError, match=r"controller\.quorum\.voters"):
        VoterSet.of_setting((item,), "CONTROLLER")


def test_one_id_cannot_vote_twice() -> None:
    with pytest.raises(VotersError, match="voter 1"):
        VoterSet([Voter(1), Voter(1, DIRECTORY)])


def test_a_record_of_a_set_reads_back_as_the_set() -> None:
    endpoints = (VoterEndpoint("C", "h", 1),)
    before = VoterSet([Voter(3, DIRECTORY, endpoints), Voter(1, b"e" * 16, endpoints, 0, 1)])
    assert VoterSet.of_record(before.record()) == before
    assert hash(VoterSet.of_record(before.record())) == hash(before)


def test_a_voter_is_known_by_its_directory_where_directories_are_known() -> None:
    known = VoterSet([Voter(1, DIRECTORY)])
    assert known.has(1, DIRECTORY)
    assert not known.has(1, b"x" * 16)
    assert not known.has(2, DIRECTORY)
    assert voters(1).has(1, DIRECTORY)


def test_a_voter_takes_the_place_of_the_one_with_its_id() -> None:
    changed = voters(3).with_voter(Voter(2, DIRECTORY))
    assert changed.ids == (1, 2, 3)
    assert changed.get(2) == Voter(2, DIRECTORY)


@pytest.mark.parametrize("count", range(1, 8))
def test_two_majorities_always_share_a_voter(count: int) -> None:
    some = voters(count)
    deciding = [set(one) for one in combinations(some.ids, some.majority) if some.decides(one)]
    assert deciding
    assert all(a & b for a in deciding for b in deciding)
    assert not some.decides(range(1, some.majority))
    assert not some.decides([*range(1, some.majority), 99, 100])


@given(st.dictionaries(st.integers(1, 7), st.integers(0, 50)), st.integers(1, 7))
def test_a_majority_has_reached_the_offset_and_none_has_reached_more(
    ends: dict[int, int], count: int
) -> None:
    some = voters(count)
    offset = some.majority_offset(ends)
    assert sum(ends.get(one, 0) >= offset for one in some.ids) >= some.majority
    assert sum(ends.get(one, 0) > offset for one in some.ids) < some.majority
