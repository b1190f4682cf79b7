"""raft.quorum_state: the file, in both versions, byte for byte as Apache Kafka writes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.raft.quorum_state import QuorumState, QuorumStateError, decode, encode

GOLDEN = Path(__file__).parents[1] / "golden"
WITH_DIRECTORIES = GOLDEN / "data-clean" / "__cluster_metadata-0" / "quorum-state"
WITH_VOTERS = next((GOLDEN / "kraft-version-0").rglob("quorum-state"))

states = st.builds(
    QuorumState,
    st.integers(0, 2**31 - 1),
    st.integers(-1, 2**31 - 1),
    st.integers(-1, 2**31 - 1),
    st.binary(min_size=16, max_size=16),
)


@pytest.mark.parametrize(("path", "level"), [(WITH_VOTERS, 0), (WITH_DIRECTORIES, 1)])
def test_the_bytes_are_those_that_apache_kafka_wrote(path: Path, level: int) -> None:
    content = path.read_bytes()
    state = decode(content)
    assert state == QuorumState(epoch=1, leader_id=1)
    assert encode(state, kraft_version=level, voter_ids=[1]) == content


@given(states)
def test_what_was_encoded_decodes_to_an_equal_state(state: QuorumState) -> None:
    assert decode(encode(state, kraft_version=1)) == state
    without_directory = state._replace(voted_directory_id=bytes(16))
    assert decode(encode(state, kraft_version=0, voter_ids=[1, 2])) == without_directory


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"\xff\xfe",
        b'{"data_version":2}',
        b'{"data_version":1}',
        b'{"data_version":1,"leaderEpoch":true,"leaderId":1,"votedId":-1}',
        b'{"data_version":1,"leaderEpoch":-1,"leaderId":1,"votedId":-1}',
        b'{"data_version":1,"leaderEpoch":1,"leaderId":1,"votedId":-1,"votedDirectoryId":"x"}',
    ],
)
def test_a_file_that_cannot_be_understood_is_an_error(content: bytes) -> None:
    with pytest.raises(QuorumStateError, match="quorum-state"):
        decode(content)


@given(st.binary(max_size=80))
def test_no_bytes_do_more_than_raise_the_one_error(content: bytes) -> None:
    try:
        decode(content)
    except QuorumStateError:
        return
