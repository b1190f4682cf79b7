from __future__ import annotations

from pathlib import Path

import pytest

from quire.config.java_properties import parse_properties
from quire.errors import CorruptFileError, StorageError
from quire.runtime.disk import RealDisk
from quire.sim.disk import SimDisk
from quire.sim.entropy import SeededEntropy
from quire.storage.meta_properties import (
    Identity,
    MetaProperties,
    agree,
    is_reserved,
    new_uuid,
    read_meta_properties,
    write_meta_properties,
)
from quire.storage.small_files import read_file, replace_file
from quire.types import uuid_from_text, uuid_to_text

GOLDEN = Path(__file__).parents[1] / "golden"
DIRECTORY_ID = uuid_from_text("kacmbi_gQLC08eYStE33bg")
META = MetaProperties("PzJIwIKORUm3lDcXOerb8A", 1, DIRECTORY_ID)


def test_apache_kafkas_file_is_read() -> None:
    assert read_meta_properties(RealDisk(), str(GOLDEN / "data-clean")) == META


def test_what_is_written_reads_back_and_has_the_properties_of_apache_kafka() -> None:
    disk = SimDisk()
    disk.make_directory("/data")
    write_meta_properties(disk, "/data", META)
    assert read_meta_properties(disk, "/data") == META
    golden = (GOLDEN / "data-clean" / "meta.properties").read_bytes()
    assert parse_properties(read_file(disk, "/data/meta.properties")) == parse_properties(golden)


def test_a_directory_without_the_file_is_not_formatted() -> None:
    disk = SimDisk()
    assert read_meta_properties(disk, "/") is None
    with pytest.raises(StorageError, match="/data: not formatted"):
        agree({"/data": None})


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"version=2\n", "unknown version '2'"),
        (b"node.id=1\n", "unknown version None"),
        (b"version=1\nnode.id=-1\n", "node.id '-1' is not a node's number"),
        (b"version=1\nnode.id=2147483648\n", "is not a node's number"),
        (b"version=1\ndirectory.id=x\n", "'x' is not a uuid"),
        (b"version=1\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAQ\n", "AAAAAAAAAAAAAAAAAAAAAQ is reserved"),
        (b"version=\\u1\n", "broken escape"),
    ],
)
def test_a_broken_file_is_named(content: bytes, complaint: str) -> None:
    disk = SimDisk()
    replace_file(disk, "/meta.properties", content)
    with pytest.raises(CorruptFileError) as caught:
        read_meta_properties(disk, "/")
    assert "/meta.properties: " in str(caught.value)
    assert complaint in str(caught.value)


def test_a_directory_of_the_zookeeper_age_is_refused_with_the_reason() -> None:
    disk = SimDisk()
    replace_file(disk, "/meta.properties", b"broker.id=1\nversion=0\n")
    with pytest.raises(StorageError, match="version 0 was written for ZooKeeper"):
        read_meta_properties(disk, "/")


def test_directories_agree_on_cluster_and_node() -> None:
    other = MetaProperties(META.cluster_id, 1, None)
    assert agree({"/a": META, "/b": other}) == Identity("PzJIwIKORUm3lDcXOerb8A", 1)
    assert agree({"/a": META}, node_id=1, cluster_id=META.cluster_id).node_id == 1


@pytest.mark.parametrize(
    ("other", "complaint"),
    [
        (MetaProperties("another", 1, None), "/b belongs to cluster another, not to PzJ"),
        (MetaProperties(META.cluster_id, 2, None), "/b belongs to node 2, not to 1"),
        (MetaProperties(META.cluster_id, 1, DIRECTORY_ID), "/b and /a have the same directory.id"),
        (MetaProperties(None, 1, None), "/b/meta.properties: cluster.id is missing"),
        (MetaProperties(META.cluster_id, None, None), "/b/meta.properties: node.id is missing"),
        (None, "/b: not formatted"),
    ],
)
def test_directories_that_disagree_are_refused(
    other: MetaProperties | None, complaint: str
) -> None:
    with pytest.raises(StorageError) as caught:
        agree({"/a": META, "/b": other})
    assert complaint in str(caught.value)


def test_another_node_or_cluster_than_the_expected_one_is_refused() -> None:
    with pytest.raises(StorageError, match="belongs to node 1, not to 2"):
        agree({"/a": META}, node_id=2)
    with pytest.raises(StorageError, match="not to other"):
        agree({"/a": META}, cluster_id="other")
    with pytest.raises(StorageError, match="no log directory"):
        agree({})


def test_a_new_uuid_is_random_in_form_and_neither_reserved_nor_a_flag() -> None:
    entropy = SeededEntropy(1)
    uuids = [new_uuid(entropy) for _ in range(300)]
    assert len(set(uuids)) == 300
    for uuid in uuids:
        assert not is_reserved(uuid)
        assert not uuid_to_text(uuid).startswith("-")
        assert uuid[6] >> 4 == 4
        assert uuid[8] >> 6 == 2
    assert is_reserved((99).to_bytes(16, "big"))
    assert not is_reserved((100).to_bytes(16, "big"))
