from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import CorruptFileError
from quire.records.checksum import crc32c
from quire.sim.disk import SimDisk
from quire.storage.producer_snapshot import (
    ProducerEntry,
    decode_snapshot,
    encode_snapshot,
    read_snapshot,
    remove_snapshot,
    remove_snapshots_after,
    remove_snapshots_before,
    remove_stray_snapshots,
    snapshot_offsets,
    write_snapshot,
)

GOLDEN = Path(__file__).parents[1] / "golden"
GOLDEN_SNAPSHOT = GOLDEN / "data-clean" / "g-txn-0" / "00000000000000000024.snapshot"

longs = st.integers(-1, 2**63 - 1)
ints = st.integers(0, 2**31 - 1)
entries = st.builds(
    ProducerEntry, st.integers(0, 2**63 - 1), st.integers(-1, 32767), ints, longs, ints, longs,
    st.integers(-1, 2**31 - 1), longs,
)  # fmt: skip


def _disk_with(*offsets: int) -> SimDisk:
    disk = SimDisk()
    disk.make_directory("/t-0")
    for offset in offsets:
        write_snapshot(disk, "/t-0", offset, [], flush=True)
    return disk


@given(wanted=st.lists(entries, max_size=5))
def test_entries_read_back(wanted: list[ProducerEntry]) -> None:
    disk = _disk_with()
    write_snapshot(disk, "/t-0", 7, wanted, flush=False)
    assert read_snapshot(disk, "/t-0", 7) == wanted


def test_an_empty_snapshot_has_ten_known_bytes() -> None:
    assert encode_snapshot([]).hex() == "000148674bc700000000"


def test_apache_kafkas_snapshot_says_what_its_own_tool_prints() -> None:
    decoded = decode_snapshot(GOLDEN_SNAPSHOT.read_bytes(), "golden")
    lines = (GOLDEN / "dumps" / "g-txn-0-snapshot.txt").read_text().splitlines()[1:]
    assert len(decoded) == len(lines) == 2
    for entry, line in zip(decoded, lines, strict=True):
        printed = dict(re.findall(r"(\w+): (\S+)", line))
        assert entry.producer_id == int(printed["producerId"])
        assert entry.producer_epoch == int(printed["producerEpoch"])
        assert entry.coordinator_epoch == int(printed["coordinatorEpoch"])
        assert entry.timestamp == int(printed["lastTimestamp"])
        assert entry.last_sequence == int(printed.get("lastSequence", -1))
        assert entry.last_offset == int(printed.get("lastOffset", -1))
        assert entry.offset_delta == int(printed.get("offsetDelta", 0))
        assert printed["currentTxnFirstOffset"] == "OptionalLong.empty"
        assert entry.transaction_first_offset == -1


def test_apache_kafkas_snapshot_is_written_again_byte_by_byte() -> None:
    data = GOLDEN_SNAPSHOT.read_bytes()
    assert encode_snapshot(decode_snapshot(data, "golden")) == data


@given(data=st.data())
def test_one_flipped_bit_is_found(data: st.DataObject) -> None:
    whole = bytearray(GOLDEN_SNAPSHOT.read_bytes())
    position = data.draw(st.integers(0, len(whole) - 1))
    whole[position] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(CorruptFileError):
        decode_snapshot(bytes(whole), "/f")


@given(cut=st.integers(0, 101))
def test_a_cut_snapshot_is_found(cut: int) -> None:
    with pytest.raises(CorruptFileError, match="/f: "):
        decode_snapshot(GOLDEN_SNAPSHOT.read_bytes()[:cut], "/f")


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"\0\0\0\1", "1 entries announced in 10 bytes"),
        (b"\xff\xff\xff\xff", "-1 entries announced"),
        (b"\0\0\0\1" + b"\xff" * 46, "impossible entry"),
    ],
)
def test_a_right_checksum_over_nonsense_does_not_help(body: bytes, complaint: str) -> None:
    data = b"\0\1" + crc32c(body).to_bytes(4, "big") + body
    with pytest.raises(CorruptFileError) as caught:
        decode_snapshot(data, "/f")
    assert complaint in str(caught.value)


def test_snapshots_are_listed_and_other_files_are_not() -> None:
    disk = _disk_with(30, 5)
    for name in ("00000000000000000007.log", "7.snapshot", "00000000000000000007.snapshot.deleted"):
        disk.open(f"/t-0/{name}", create=True)
    assert snapshot_offsets(disk, "/t-0") == [5, 30]


def test_snapshots_are_removed_on_both_sides_of_an_offset() -> None:
    disk = _disk_with(5, 10, 15, 20)
    remove_snapshots_before(disk, "/t-0", 10)
    assert snapshot_offsets(disk, "/t-0") == [10, 15, 20]
    remove_snapshots_after(disk, "/t-0", 15)
    assert snapshot_offsets(disk, "/t-0") == [10, 15]
    remove_snapshot(disk, "/t-0", 10)
    remove_snapshot(disk, "/t-0", 10)
    assert snapshot_offsets(disk, "/t-0") == [15]


def test_stray_snapshots_go_and_the_newest_stays() -> None:
    disk = _disk_with(5, 10, 15, 20)
    remove_stray_snapshots(disk, "/t-0", [0, 10])
    assert snapshot_offsets(disk, "/t-0") == [10, 20]


def test_a_flushed_snapshot_survives_power_loss() -> None:
    disk = _disk_with()
    disk.flush_directory("/")
    write_snapshot(disk, "/t-0", 9, [], flush=True)
    assert read_snapshot(disk.crash(), "/t-0", 9) == []


def test_the_example_of_the_format_page_is_decoded() -> None:
    page = (Path(__file__).parents[2] / "docs/formats/producer-snapshot.md").read_text()
    example = bytes.fromhex(page.split("```hex\n")[1].split("```")[0])
    assert example == GOLDEN_SNAPSHOT.read_bytes()
