from __future__ import annotations

from pathlib import Path

import pytest

from quire.runtime.disk import RealDisk
from quire.sim.disk import SimDisk
from quire.storage.clean_shutdown import (
    FILE_NAME,
    CleanShutdown,
    read_clean_shutdown,
    remove_clean_shutdown,
    write_clean_shutdown,
)
from quire.storage.small_files import read_file, replace_file

GOLDEN = Path(__file__).parents[1] / "golden" / "data-clean"


def test_apache_kafkas_marker_is_read_and_written_byte_by_byte() -> None:
    assert read_clean_shutdown(RealDisk(), str(GOLDEN)) == CleanShutdown(16)
    disk = SimDisk()
    disk.make_directory("/d")
    write_clean_shutdown(disk, "/d", 16)
    assert read_file(disk, f"/d/{FILE_NAME}") == (GOLDEN / FILE_NAME).read_bytes()
    assert read_clean_shutdown(disk, "/d") == CleanShutdown(16)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff", b"[]", b'{"brokerEpoch":true}', b'{"brokerEpoch":-5}', b"[" * 100_000],
)
def test_a_marker_that_cannot_be_read_still_counts(content: bytes) -> None:
    disk = SimDisk()
    replace_file(disk, f"/{FILE_NAME}", content)
    assert read_clean_shutdown(disk, "/") == CleanShutdown(-1)


def test_no_marker_is_no_promise_and_a_removed_one_never_comes_back() -> None:
    for seed in range(20):
        disk = SimDisk(seed)
        disk.make_directory("/d")
        disk.flush_directory("/")
        assert read_clean_shutdown(disk, "/d") is None
        write_clean_shutdown(disk, "/d", 5)
        disk = disk.crash()
        assert read_clean_shutdown(disk, "/d") == CleanShutdown(5)
        remove_clean_shutdown(disk, "/d")
        remove_clean_shutdown(disk, "/d")
        assert read_clean_shutdown(disk.crash(), "/d") is None
