from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import CorruptFileError
from quire.runtime.disk import RealDisk
from quire.sim.disk import SimDisk
from quire.storage.checkpoints import (
    CLEANER_OFFSETS,
    HIGH_WATERMARKS,
    LOG_START_OFFSETS,
    RECOVERY_POINTS,
    read_offsets,
    write_offsets,
)
from quire.storage.small_files import replace_file
from quire.types import TopicPartition

GOLDEN = Path(__file__).parents[1] / "golden" / "data-clean"

topics = st.text("abcXYZ019._-", min_size=1, max_size=20)
keys = st.builds(TopicPartition, topics, st.integers(0, 2**31 - 1))


def _disk_with(content: bytes) -> SimDisk:
    disk = SimDisk()
    replace_file(disk, "/f", content)
    return disk


@given(offsets=st.dictionaries(keys, st.integers(0, 2**63 - 1), max_size=20))
def test_what_is_written_reads_back(offsets: dict[TopicPartition, int]) -> None:
    disk = SimDisk()
    write_offsets(disk, "/f", offsets)
    assert read_offsets(disk, "/f") == offsets


def test_rows_stand_in_the_order_of_their_partitions() -> None:
    disk = SimDisk()
    write_offsets(disk, "/f", {TopicPartition("b", 1): 5, TopicPartition("a", 10): 7})
    assert disk.open("/f").read(0, 100) == b"0\n2\na 10 7\nb 1 5\n"


def test_a_missing_file_and_an_empty_one_hold_nothing() -> None:
    disk = _disk_with(b"")
    assert read_offsets(disk, "/f") == {}
    assert read_offsets(disk, "/g") == {}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"1\n0\n", "line 1: unknown version '1'"),
        (b"0\n", "line 2: the number of rows is missing"),
        (b"0\nmany\n", "line 2: 'many' is not a whole number"),
        (b"0\n2\na 0 1\n", "line 2: 2 rows announced, 1 there"),
        (b"0\n0\na 0 1\n", "line 2: 0 rows announced, 1 there"),
        (b"0\n1\na 0\n", "line 3: 2 fields, not 3"),
        (b"0\n1\na  0 1\n", "line 3: 4 fields, not 3"),
        (b"0\n2\na 0 1\na -1 1\n", "line 4: '-1' is not a whole number"),
        (b"0\n1\na 0 \xd9\xa3\n", "is not a whole number"),
        (b"0\n1\na 0 99999999999999999999\n", "is not a whole number"),
    ],
)
def test_a_broken_file_is_named_with_its_line(content: bytes, complaint: str) -> None:
    with pytest.raises(CorruptFileError) as caught:
        read_offsets(_disk_with(content), "/f")
    assert caught.value.path == "/f"
    assert complaint in str(caught.value)


@given(content=st.binary(max_size=60))
def test_any_bytes_are_offsets_or_a_corrupt_file(content: bytes) -> None:
    try:
        offsets = read_offsets(_disk_with(content), "/f")
    except CorruptFileError:
        return
    assert all(offset >= 0 for offset in offsets.values())


def test_the_files_of_apache_kafka_are_read() -> None:
    disk = RealDisk()
    recovery = read_offsets(disk, str(GOLDEN / RECOVERY_POINTS))
    assert len(recovery) == 12
    assert recovery[TopicPartition("g-txn", 0)] == 24
    assert read_offsets(disk, str(GOLDEN / HIGH_WATERMARKS)) == recovery
    assert read_offsets(disk, str(GOLDEN / LOG_START_OFFSETS)) == {}
    assert read_offsets(disk, str(GOLDEN / CLEANER_OFFSETS)) == {TopicPartition("g-compact", 0): 16}


def test_the_example_of_the_format_page_is_read() -> None:
    page = (Path(__file__).parents[2] / "docs/formats/checkpoints.md").read_text()
    example = page.split("```text\n")[1].split("```")[0]
    assert read_offsets(_disk_with(example.encode()), "/f") == {
        TopicPartition("orders", 0): 1520,
        TopicPartition("orders", 1): 0,
    }
