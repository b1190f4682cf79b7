"""What every implementation of the disk port promises, real and simulated."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.ports.disk import Disk
from quire.runtime.disk import RealDisk
from quire.sim.disk import SimDisk


@pytest.fixture(params=["real", "sim"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Disk, str]]:
    if request.param == "real":
        yield RealDisk(), str(tmp_path)
    else:
        disk = SimDisk(seed=1)
        disk.make_directory("/data")
        yield disk, "/data"


def test_a_written_file_reads_back_at_any_position(world: tuple[Disk, str]) -> None:
    disk, root = world
    file = disk.open(f"{root}/a", create=True)
    assert file.path == f"{root}/a"
    assert file.write(0, [b"hello ", bytearray(b"wide "), memoryview(b"world")]) == 16
    assert file.write(16, []) == 0
    assert file.size() == 16
    assert file.read(6, 4) == b"wide"
    assert file.read(11, 100) == b"world"
    assert file.read(100, 5) == b""


def test_a_gap_before_a_write_reads_as_zeros(world: tuple[Disk, str]) -> None:
    disk, root = world
    file = disk.open(f"{root}/a", create=True)
    file.write(3, [b"x"])
    assert file.read(0, 10) == b"\0\0\0x"


def test_a_buffer_is_filled_up_to_the_end_of_the_file(world: tuple[Disk, str]) -> None:
    disk, root = world
    file = disk.open(f"{root}/a", create=True)
    file.write(0, [b"0123456789"])
    buffer = bytearray(6)
    assert file.read_into(2, memoryview(buffer)) == 6
    assert buffer == b"234567"
    assert file.read_into(8, memoryview(buffer)) == 2
    assert buffer == b"894567"


def test_more_buffers_than_one_system_call_takes_are_all_written(
    world: tuple[Disk, str],
) -> None:
    disk, root = world
    file = disk.open(f"{root}/a", create=True)
    buffers = [index.to_bytes(2, "big") for index in range(3000)]
    assert file.write(5, buffers) == 6000
    assert file.read(5, 6000) == b"".join(buffers)


def test_allocate_grows_with_zeros_and_never_shrinks(world: tuple[Disk, str]) -> None:
    disk, root = world
    file = disk.open(f"{root}/a", create=True)
    file.write(0, [b"abc"])
    file.allocate(8)
    assert file.read(0, 100) == b"abc\0\0\0\0\0"
    file.allocate(4)
    assert file.size() == 8
    file.truncate(2)
    assert file.read(0, 100) == b"ab"


def test_a_map_shows_the_content_and_cannot_be_written(world: tuple[Disk, str]) -> None:
    disk, root = world
    file = disk.open(f"{root}/a", create=True)
    file.write(0, [b"0123456789"])
    view = file.map(4)
    assert bytes(view) == b"0123"
    assert view.readonly
    view.release()
    for size in (0, 11):
        with pytest.raises(OSError) as caught:
            file.map(size)
        assert caught.value.errno == errno.EINVAL


def test_a_closed_file_says_so(world: tuple[Disk, str]) -> None:
    disk, root = world
    file = disk.open(f"{root}/a", create=True)
    file.close()
    file.close()
    with pytest.raises(OSError, match="the file is closed") as caught:
        file.read(0, 1)
    assert caught.value.errno == errno.EBADF
    assert caught.value.filename == f"{root}/a"


def test_a_missing_file_is_enoent_unless_it_is_created(world: tuple[Disk, str]) -> None:
    disk, root = world
    path = f"{root}/a"
    with pytest.raises(FileNotFoundError):
        disk.open(path)
    with pytest.raises(FileNotFoundError):
        disk.stat(path)
    with pytest.raises(FileNotFoundError):
        disk.remove(path)
    with pytest.raises(FileNotFoundError):
        disk.rename(path, f"{root}/b")
    with pytest.raises(FileNotFoundError):
        disk.list(path)
    with pytest.raises(FileNotFoundError):
        disk.flush_directory(path)
    assert not disk.exists(path)
    disk.open(path, create=True).close()
    assert disk.exists(path)
    assert disk.stat(path)[0::2] == (0, False)


def test_a_file_opened_for_reading_refuses_a_write(world: tuple[Disk, str]) -> None:
    disk, root = world
    disk.open(f"{root}/a", create=True).close()
    with pytest.raises(OSError):
        disk.open(f"{root}/a", writable=False).write(0, [b"x"])


def test_names_are_listed_sorted(world: tuple[Disk, str]) -> None:
    disk, root = world
    disk.make_directory(f"{root}/z/y/x")
    disk.make_directory(f"{root}/z/y")
    for name in ("c", "a", "B"):
        disk.open(f"{root}/{name}", create=True).close()
    assert disk.list(root) == ["B", "a", "c", "z"]
    assert disk.list(f"{root}/z") == ["y"]
    assert disk.stat(f"{root}/z").is_directory


def test_a_file_in_the_way_of_a_directory_is_an_error(world: tuple[Disk, str]) -> None:
    disk, root = world
    disk.open(f"{root}/a", create=True).close()
    with pytest.raises(OSError):
        disk.make_directory(f"{root}/a")
    with pytest.raises(OSError):
        disk.open(f"{root}", writable=True)


def test_a_rename_replaces_and_open_files_follow_it(world: tuple[Disk, str]) -> None:
    disk, root = world
    old = disk.open(f"{root}/old", create=True)
    old.write(0, [b"old"])
    new = disk.open(f"{root}/new", create=True)
    new.write(0, [b"new"])
    disk.rename(f"{root}/new", f"{root}/old")
    assert disk.list(root) == ["old"]
    assert disk.open(f"{root}/old").read(0, 9) == b"new"
    assert old.read(0, 9) == b"old"
    new.write(3, [b"er"])
    assert disk.open(f"{root}/old").read(0, 9) == b"newer"


def test_a_directory_can_be_renamed_with_what_is_in_it(world: tuple[Disk, str]) -> None:
    disk, root = world
    disk.make_directory(f"{root}/t-0")
    disk.open(f"{root}/t-0/log", create=True).write(0, [b"x"])
    disk.rename(f"{root}/t-0", f"{root}/t-0.gone")
    assert disk.list(f"{root}/t-0.gone") == ["log"]
    assert not disk.exists(f"{root}/t-0")


def test_only_an_empty_directory_is_removed(world: tuple[Disk, str]) -> None:
    disk, root = world
    disk.make_directory(f"{root}/d")
    disk.open(f"{root}/d/a", create=True).close()
    with pytest.raises(OSError) as caught:
        disk.remove(f"{root}/d")
    assert caught.value.errno == errno.ENOTEMPTY
    disk.remove(f"{root}/d/a")
    disk.remove(f"{root}/d")
    assert disk.list(root) == []


def test_a_removed_file_can_be_read_by_its_holder(world: tuple[Disk, str]) -> None:
    disk, root = world
    file = disk.open(f"{root}/a", create=True)
    file.write(0, [b"still here"])
    disk.remove(f"{root}/a")
    assert file.read(0, 100) == b"still here"


def test_a_second_lock_is_refused_until_the_first_is_released(world: tuple[Disk, str]) -> None:
    disk, root = world
    lock = disk.lock(f"{root}/.lock")
    with pytest.raises(BlockingIOError):
        disk.lock(f"{root}/.lock")
    lock.release()
    disk.lock(f"{root}/.lock").release()


def test_flushing_and_free_space_work(world: tuple[Disk, str]) -> None:
    disk, root = world
    file = disk.open(f"{root}/a", create=True)
    file.write(0, [b"x"])
    file.flush()
    disk.flush_directory(root)
    assert 0 < disk.free_bytes(root) <= disk.total_bytes(root)
    assert file.read(0, 1) == b"x"


actions = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(0, 300), st.binary(max_size=100)),
        st.tuples(st.just("truncate"), st.integers(0, 300), st.just(b"")),
        st.tuples(st.just("allocate"), st.integers(0, 300), st.just(b"")),
        st.tuples(st.just("flush"), st.just(0), st.just(b"")),
    ),
    max_size=20,
)


@given(actions=actions)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_both_disks_agree_on_any_sequence_of_changes(
    tmp_path: Path, actions: list[tuple[str, int, bytes]]
) -> None:
    simulated = SimDisk(seed=0).open("/a", create=True)
    real = RealDisk().open(str(tmp_path / "a"), create=True)
    real.truncate(0)
    for name, number, data in actions:
        for file in (simulated, real):
            if name == "write":
                file.write(number, [data[:3], data[3:]])
            elif name == "truncate":
                file.truncate(number)
            elif name == "allocate":
                file.allocate(number)
            else:
                file.flush()
    assert simulated.size() == real.size()
    assert simulated.read(0, 1000) == real.read(0, 1000)
