from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import CorruptFileError
from quire.runtime.disk import RealDisk
from quire.sim.disk import SimDisk
from quire.storage.partition_metadata import (
    read_topic_id,
    write_topic_id,
)
from quire.storage.small_files import read_file, replace_file
from quire.types import uuid_from_text, uuid_to_text

GOLDEN = Path(__file__).parents[1] / "golden" / "data-clean" / "g-txn-0"


def _disk() -> SimDisk:
    disk = SimDisk()
    disk.make_directory("/t-0")
    return disk


def test_apache_kafkas_file_is_read_and_written_again_byte_by_byte() -> None:
    topic_id = read_topic_id(RealDisk(), str(GOLDEN))
    assert topic_id is not None
    assert uuid_to_text(topic_id) == "D9OOnUSjR8aRY28ImcrXhQ"
    disk = _disk()
    write_topic_id(disk, "/t-0", topic_id)
    written = read_file(disk, "/t-0/partition.metadata")
    assert written == (GOLDEN / "partition.metadata").read_bytes()
    assert len(written) == 43


@given(topic_id=st.binary(min_size=16, max_size=16).filter(any))
def test_an_id_reads_back(topic_id: bytes) -> None:
    disk = _disk()
    write_topic_id(disk, "/t-0", topic_id)
    assert read_topic_id(disk, "/t-0") == topic_id
    assert uuid_from_text(uuid_to_text(topic_id)) == topic_id


def test_a_missing_file_is_no_id() -> None:
    assert read_topic_id(_disk(), "/t-0") is None


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "unknown version None"),
        (b"version: 1\ntopic_id: D9OOnUSjR8aRY28ImcrXhQ", "unknown version '1'"),
        (b"version: 0\n", "its fields are ['version']"),
        (b"version: 0\ntopic_id: D9OOnUSjR8aRY28ImcrXh", "is not a uuid in base64"),
        (b"version: 0\ntopic_id: D9OOnUSjR8aRY28ImcrX!Q", "is not a uuid in base64"),
        (b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", "the topic id is zero"),
        (b"version 0\n", "line 1: 'version 0' is not a field of its own"),
        (b"version: 0\nversion: 0\n", "line 2"),
        (b"version: 0\ntopic_id: D9OOnUSjR8aRY28ImcrXhQ\nmore: 1", "its fields are"),
    ],
)
def test_a_broken_file_is_refused(content: bytes, complaint: str) -> None:
    disk = _disk()
    replace_file(disk, "/t-0/partition.metadata", content)
    with pytest.raises(CorruptFileError) as caught:
        read_topic_id(disk, "/t-0")
    assert complaint in str(caught.value)


def test_a_line_feed_at_the_end_is_tolerated() -> None:
    disk = _disk()
    replace_file(disk, "/t-0/partition.metadata", b"version: 0\ntopic_id: D9OOnUSjR8aRY28ImcrXhQ\n")
    assert read_topic_id(disk, "/t-0") == uuid_from_text("D9OOnUSjR8aRY28ImcrXhQ")


def test_no_directory_gets_the_id_zero() -> None:
    for topic_id in (bytes(16), b"short"):
        with pytest.raises(ValueError):
            write_topic_id(_disk(), "/t-0", topic_id)
