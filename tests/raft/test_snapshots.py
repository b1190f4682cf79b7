"""raft.snapshots: Kafka's own files read, and written again byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.raft import snapshots
from quire.raft.snapshots import BOOTSTRAP, Controls, SnapshotError, SnapshotId
from quire.raft.voters import Voter, VoterEndpoint, VoterSet
from quire.records.batch import read_header

DATA = Path(__file__).parents[1] / "golden" / "data-clean"
METADATA = DATA / "__cluster_metadata-0"
FILES = [DATA / "bootstrap.checkpoint", *sorted(METADATA.glob("*.checkpoint"))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_apache_kafka_wrote_is_read(path: Path) -> None:
    found = snapshots.read(path.read_bytes())
    assert bool(found.values) == (path.name != BOOTSTRAP.file_name)
    if path.parent == METADATA:
        assert found.controls.kraft_version == 1
        assert found.controls.voters is not None
        assert found.controls.voters.ids == (1,)
    else:
        assert found.controls == Controls()


def test_the_first_voters_are_written_with_the_bytes_of_apache_kafka() -> None:
    content = (METADATA / BOOTSTRAP.file_name).read_bytes()
    found = snapshots.read(content)
    built = snapshots.build(
        found.values,
        epoch=0,
        last_contained_log_timestamp=found.last_contained_log_timestamp,
        now_ms=0,
        controls=found.controls,
    )
    ours, theirs = b"".join(built), bytearray(content)
    assert len(ours) == len(theirs)
    position = 0
    while position < len(theirs):  # all but checksums and times is equal
        mine, other = read_header(ours, position), read_header(theirs, position)
        unlike = {"crc": 0, "base_timestamp": 0, "max_timestamp": 0}
        assert mine._replace(**unlike) == other._replace(**unlike)
        position += mine.size
    assert snapshots.read(ours) == found


@given(
    st.lists(st.binary(max_size=40), max_size=20), st.sampled_from([0, 1]), st.integers(0, 2**40)
)
def test_what_was_built_reads_back(values: list[bytes], level: int, timestamp: int) -> None:
    endpoints = (VoterEndpoint("CONTROLLER", "localhost", 9093),)
    controls = Controls(level, VoterSet([Voter(1, b"d" * 16, endpoints)])) if level else Controls()
    built = snapshots.build(
        values, epoch=3, last_contained_log_timestamp=timestamp, now_ms=1, controls=controls
    )
    assert snapshots.read(b"".join(built)) == (timestamp, controls, values)


def test_many_values_are_spread_over_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "BATCH_BYTES", 100)
    values = [bytes([n]) * 30 for n in range(10)]
    built = list(snapshots.build(values, epoch=1, last_contained_log_timestamp=0, now_ms=0))
    assert len(built) == 2 + 4
    assert snapshots.read(b"".join(built)).values == values


def test_a_snapshot_that_is_not_whole_is_refused_wherever_it_is_cut() -> None:
    content = (DATA / "bootstrap.checkpoint").read_bytes()
    for size in range(0, len(content), 7):
        with pytest.raises(SnapshotError):
            snapshots.read(content[:size])


def test_a_flipped_bit_is_found() -> None:
    content = bytearray((DATA / "bootstrap.checkpoint").read_bytes())
    content[200] ^= 1
    with pytest.raises(SnapshotError, match="checksum"):
        snapshots.read(bytes(content))


def test_what_follows_a_footer_is_refused() -> None:
    content = (DATA / "bootstrap.checkpoint").read_bytes()
    with pytest.raises(SnapshotError, match="behind its footer"):
        snapshots.read(content + content)


@given(st.integers(0, 10**20 - 1), st.integers(0, 10**10 - 1))
def test_a_name_says_where_a_snapshot_ends(end_offset: int, epoch: int) -> None:
    one = SnapshotId(end_offset, epoch)
    assert snapshots.snapshot_id(one.file_name) == one


@pytest.mark.parametrize(
    "name",
    ["bootstrap.checkpoint", "00000000000000000001-0000000001.checkpoint.part", "1-1.checkpoint"],
)
def test_other_names_are_no_snapshots(name: str) -> None:
    assert snapshots.snapshot_id(name) is None
