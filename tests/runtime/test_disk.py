"""The real disk: what only the real one has. Its contract is tested in tests/ports/test_disk.py."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from quire.runtime.disk import RealDisk

_HOLD_LOCK = """
import fcntl, sys
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
print("held", flush=True)
sys.stdin.read()
"""


def test_a_lock_of_another_process_is_seen(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    path.touch()
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD_LOCK, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BlockingIOError, match="another process"):
            RealDisk().lock(str(path))
        holder.communicate()
    RealDisk().lock(str(path)).release()


def test_a_refused_lock_in_this_process_leaves_the_first_one_in_force(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    lock = RealDisk().lock(str(path))
    with pytest.raises(BlockingIOError, match="this process"):
        RealDisk().lock(str(path))
    other = subprocess.run(
        [sys.executable, "-c", _HOLD_LOCK, str(path)], input=b"", capture_output=True, check=False
    )
    assert b"BlockingIOError" in other.stderr
    lock.release()
    lock.release()


def test_the_last_holder_closes_the_descriptor(tmp_path: Path) -> None:
    file = RealDisk().open(str(tmp_path / "a"), create=True)
    descriptor = file.fileno()
    os.fstat(descriptor)
    del file
    gc.collect()
    with pytest.raises(OSError):
        os.fstat(descriptor)


def test_a_map_outlives_the_closed_file(tmp_path: Path) -> None:
    file = RealDisk().open(str(tmp_path / "a"), create=True)
    file.write(0, [b"abc"])
    view = file.map(3)
    file.close()
    assert bytes(view) == b"abc"
    view.release()


def test_an_unreadable_place_is_an_error_and_not_an_absence(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="File name too long"):
        RealDisk().exists(str(tmp_path / ("x" * 300)))
    (tmp_path / "file").touch()
    assert not RealDisk().exists(str(tmp_path / "file" / "below"))


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.pwritev

    def short(descriptor: int, buffers: list[bytes], position: int) -> int:
        return whole(descriptor, [b"".join(buffers)[:7]], position)

    monkeypatch.setattr(os, "pwritev", short)
    file = RealDisk().open(str(tmp_path / "a"), create=True)
    assert file.write(2, [b"0123", b"", b"456789", b"abcdefghijk"]) == 21
    assert file.read(2, 100) == b"0123456789abcdefghijk"


def test_short_reads_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = RealDisk().open(str(tmp_path / "a"), create=True)
    file.write(0, [b"0123456789"])
    whole = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, position: whole(fd, min(size, 3), position))
    assert file.read(1, 8) == b"12345678"
    assert file.read(1, 20) == b"123456789"


def test_without_fallocate_a_file_grows_by_truncation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    file = RealDisk().open(str(tmp_path / "a"), create=True)
    file.allocate(100)
    assert file.size() == 100
