from __future__ import annotations

import contextlib

import pytest

from quire.errors import CorruptFileError
from quire.sim.disk import SimDisk, SimulatedCrash
from quire.storage.small_files import (
    make_directory,
    parent_of,
    read_file,
    read_text,
    replace_file,
)


def test_a_replacement_is_old_or_new_after_a_crash_anywhere() -> None:
    found = set()
    for seed in range(10):
        for operations in range(7):
            disk = SimDisk(seed)
            replace_file(disk, "/f", b"old")
            disk.faults.fail_after(operations=operations)
            with contextlib.suppress(SimulatedCrash):
                replace_file(disk, "/f", b"new and longer")
            after = disk.crash()
            found.add(read_file(after, "/f"))
            replace_file(after, "/f", b"again")
            assert read_file(after.crash(), "/f") == b"again"
    assert found == {b"old", b"new and longer"}


def test_a_full_disk_leaves_the_old_content() -> None:
    disk = SimDisk(capacity_bytes=10)
    replace_file(disk, "/f", b"old")
    with pytest.raises(OSError, match="no space"):
        replace_file(disk, "/f", b"far too long for it")
    assert read_file(disk, "/f") == b"old"
    disk.faults.capacity_bytes = None
    replace_file(disk, "/f", b"far too long for it")
    assert read_file(disk, "/f") == b"far too long for it"


def test_text_that_is_not_utf_8_is_a_corrupt_file() -> None:
    disk = SimDisk()
    replace_file(disk, "/f", b"ab\xff")
    with pytest.raises(CorruptFileError, match="/f: not UTF-8 at byte 2"):
        read_text(disk, "/f")


def test_the_parent_of_a_path() -> None:
    assert parent_of("/a/b") == "/a"
    assert parent_of("/a") == "/"


def test_a_directory_is_there_after_a_loss_of_power_with_all_its_parents() -> None:
    for seed in range(10):
        disk = SimDisk(seed)
        make_directory(disk, "/a/b/c")
        make_directory(disk, "/a/b/c")
        assert disk.crash().exists("/a/b/c")
