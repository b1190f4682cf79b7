"""node.format: what formatting leaves, beside what Apache Kafka's own tool left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quire.config.values import ConfigError
from quire.errors import QuireError
from quire.node.format import FormatError, Formatted, Formatting, format_directories
from quire.raft.snapshots import Snapshot, read
from quire.records.batch import decode_batch, iterate_headers
from quire.sim.disk import SimDisk, SimulatedCrash
from quire.sim.entropy import SeededEntropy
from quire.storage.meta_properties import read_meta_properties
from quire.storage.small_files import read_file

GOLDEN = Path(__file__).parents[1] / "golden"
CLUSTER = "PzJIwIKORUm3lDcXOerb8A"
DIRECTORY = "kacmbi_gQLC08eYStE33bg"
STATIC = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.bootstrap.servers": "127.0.0.1:29402",
    "listeners": "PLAINTEXT://127.0.0.1:29392,CONTROLLER://127.0.0.1:29402",
    "controller.listener.names": "CONTROLLER",
    "log.dirs": "/data/a,/data/b",
}
FIRST = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"


def formatted(
    disk: SimDisk, static: dict[str, str] | None = None, **wanted: Any
) -> list[Formatted]:
    wanted = {"cluster_id": CLUSTER, "standalone": True, **wanted}
    return format_directories(
        disk, static or STATIC, Formatting(**wanted), entropy=SeededEntropy(1), now_ms=1000
    )


def snapshot(disk: SimDisk, path: str) -> Snapshot:
    return read(read_file(disk, path))


def records_without_times(content: bytes) -> Iterator[Any]:
    """Offsets, keys, values and kinds of batches; the times and directory ids differ."""
    for position, header in iterate_headers(content):
        yield header.base_offset, header.is_control, header.partition_leader_epoch
        yield [(one.offset, one.key) for one in decode_batch(content, position)]


def test_a_standalone_node_is_formatted_as_kafka_does_it() -> None:
    disk = SimDisk()
    assert formatted(disk) == [Formatted("/data/a", True), Formatted("/data/b", True)]
    metas = [read_meta_properties(disk, path) for path in ("/data/a", "/data/b")]
    assert all(one is not None and one.node_id == 1 and one.cluster_id == CLUSTER for one in metas)
    assert len({one.directory_id for one in metas if one is not None}) == 2
    ours = snapshot(disk, "/data/a/bootstrap.checkpoint")
    theirs = read((GOLDEN / "data-clean" / "bootstrap.checkpoint").read_bytes())
    assert ours == theirs
    assert not disk.exists(f"/data/b/{FIRST}")
    first = read_file(disk, f"/data/a/{FIRST}")
    golden = (GOLDEN / "data-clean" / FIRST).read_bytes()
    assert list(records_without_times(first)) == list(records_without_times(golden))
    controls, expected = read(first).controls, read(golden).controls
    assert controls.kraft_version == expected.kraft_version == 1
    assert controls.voters is not None
    assert expected.voters is not None
    (us,), (them,) = list(controls.voters), list(expected.voters)
    assert us._replace(directory_id=them.directory_id) == them
    assert metas[0] is not None
    assert us.directory_id == metas[0].directory_id


def test_static_voters_leave_no_voters_in_the_log() -> None:
    disk = SimDisk()
    static = {**STATIC, "controller.quorum.voters": "1@127.0.0.1:29402"}
    formatted(disk, static, standalone=False)
    assert not disk.exists("/data/a/__cluster_metadata-0")
    assert disk.exists("/data/a/bootstrap.checkpoint")
    with pytest.raises(ConfigError, match=r"controller\.quorum\.voters"):
        formatted(SimDisk(), static)


def test_initial_controllers_are_all_named_and_give_us_our_directory_id() -> None:
    disk = SimDisk()
    other = "2@other:29402:07R5amHmR32VDA6jHkGbTA"
    items = (f"1@127.0.0.1:29402:{DIRECTORY}", other)
    formatted(disk, standalone=False, initial_controllers=items)
    voters = snapshot(disk, f"/data/a/{FIRST}").controls.voters
    assert voters is not None
    assert voters.ids == (1, 2)
    meta = read_meta_properties(disk, "/data/a")
    assert meta is not None
    assert meta.directory_id == next(iter(voters)).directory_id
    with pytest.raises(FormatError, match="do not name node 1"):
        formatted(SimDisk(), standalone=False, initial_controllers=(other,))


def test_a_metadata_directory_of_its_own_is_formatted_too() -> None:
    disk = SimDisk()
    formatted(disk, {**STATIC, "metadata.log.dir": "/meta"})
    assert disk.exists(f"/meta/{FIRST}")
    assert read_meta_properties(disk, "/meta") is not None
    assert not disk.exists(f"/data/a/{FIRST}")


def test_an_interrupted_formatting_is_done_again() -> None:
    for operations in range(60):
        disk = SimDisk(operations)
        disk.faults.fail_after(operations=operations)
        try:
            formatted(disk)
        except SimulatedCrash:
            disk = disk.crash()
        else:
            break
        formatted(disk, ignore_formatted=True)
        assert snapshot(disk, "/data/a/bootstrap.checkpoint").values
        voters = snapshot(disk, f"/data/a/{FIRST}").controls.voters
        meta = read_meta_properties(disk, "/data/a")
        assert voters is not None
        assert meta is not None
        assert next(iter(voters)).directory_id == meta.directory_id
    else:
        pytest.fail("formatting takes more steps than expected")


def test_formatted_directories_are_left_alone() -> None:
    disk = SimDisk()
    formatted(disk)
    before = read_meta_properties(disk, "/data/a")
    with pytest.raises(FormatError, match="formatted already"):
        formatted(disk)
    again = formatted(
        disk, {**STATIC, "log.dirs": "/data/a,/data/b,/data/c"}, ignore_formatted=True
    )
    assert again == [("/data/a", False), ("/data/b", False), ("/data/c", True)]
    assert read_meta_properties(disk, "/data/a") == before
    with pytest.raises(FormatError, match="belongs to node 1"):
        formatted(disk, {**STATIC, "node.id": "2"}, ignore_formatted=True)


def test_levels_are_those_of_the_release_and_of_what_was_asked() -> None:
    disk = SimDisk()
    formatted(disk, release_version="4.0", features={"group.version": 0})
    values = snapshot(disk, "/data/a/bootstrap.checkpoint").values
    names = [value[4:].split(b"\x00")[0][:-1] for value in values]
    assert len(names) == 2, "metadata.version and transaction.version"


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"standalone": False}, "standalone"),
        ({"no_initial_controllers": True}, "exclude each other"),
        ({"release_version": "9.9"}, "no release known"),
        ({"features": {"foo": 1}}, "foo is no feature"),
        ({"features": {"kraft.version": 0}}, "kraft.version 0 needs"),
        ({"features": {"group.version": 7}}, "group.version supports"),
        ({"release_version": "4.0-IV0", "features": {"metadata.version": 22}}, "not both"),
        (
            {"release_version": "3.9", "features": {"eligible.leader.replicas.version": 1}},
            "needs metadata.version",
        ),
        ({"cluster_id": "bad"}, "cluster id"),
        ({"standalone": False, "initial_controllers": ("1@x",)}, "not id@host:port:directory"),
        ({"standalone": False, "initial_controllers": ("1@x:1:y",)}, "not a uuid"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    wanted: dict[str, Any], words: str
) -> None:
    disk = SimDisk()
    with pytest.raises(QuireError, match=words):
        formatted(disk, **wanted)
    assert not disk.exists("/data")
