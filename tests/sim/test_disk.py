"""The simulated disk: its losses and faults. Its contract is tested in tests/ports/test_disk.py."""

from __future__ import annotations

import contextlib
import errno

import pytest

from quire.sim.clock import SimClock
from quire.sim.disk import SimDisk, SimulatedCrash


def _save(disk: SimDisk, path: str, data: bytes) -> None:
    """The careful way to replace a file."""
    file = disk.open(f"{path}.tmp", create=True)
    file.truncate(0)
    file.write(0, [data])
    file.flush()
    disk.rename(f"{path}.tmp", path)
    disk.flush_directory("/data")


def _new_disk(seed: int = 0, capacity_bytes: int | None = None) -> SimDisk:
    disk = SimDisk(seed, capacity_bytes=capacity_bytes)
    disk.make_directory("/data")
    disk.flush_directory("/")
    return disk


def test_a_careful_replacement_is_old_or_new_wherever_the_power_goes() -> None:
    found = set()
    for seed in range(20):
        for operations in range(8):
            disk = _new_disk(seed)
            _save(disk, "/data/f", b"old")
            disk.faults.fail_after(operations=operations)
            with contextlib.suppress(SimulatedCrash):
                _save(disk, "/data/f", b"new!")
            after = disk.crash()
            content = after.open("/data/f").read(0, 100)
            assert content in {b"old", b"new!"}
            found.add((operations, content))
    assert (0, b"old") in found
    assert (7, b"new!") in found
    assert (7, b"old") not in found


def test_a_careless_replacement_loses_data() -> None:
    found = set()
    for seed in range(60):
        disk = _new_disk(seed)
        _save(disk, "/data/f", b"old")
        file = disk.open("/data/f.tmp", create=True)
        file.write(0, [b"new!"])
        disk.rename("/data/f.tmp", "/data/f")
        after = disk.crash()
        found.add(after.open("/data/f").read(0, 100))
    assert {b"old", b"new!", b""} <= found


def test_a_removed_name_may_come_back_until_its_directory_is_flushed() -> None:
    came_back = set()
    for seed in range(30):
        disk = _new_disk(seed)
        _save(disk, "/data/f", b"old")
        disk.remove("/data/f")
        if seed % 2:
            disk.flush_directory("/data")
        came_back.add((seed % 2, disk.crash().exists("/data/f")))
    assert came_back == {(0, False), (0, True), (1, False)}


def test_a_killed_process_leaves_the_page_cache_and_drops_its_locks() -> None:
    disk = _new_disk()
    disk.lock("/data/.lock")
    disk.open("/data/f", create=True).write(0, [b"never flushed"])
    after = disk.kill()
    assert after.open("/data/f").read(0, 100) == b"never flushed"
    after.lock("/data/.lock")


def test_a_write_cut_by_a_crash_leaves_a_first_part() -> None:
    lengths = set()
    for seed in range(50):
        disk = _new_disk(seed)
        file = disk.open("/data/f", create=True)
        disk.faults.fail_after(operations=0)
        with pytest.raises(SimulatedCrash):
            file.write(0, [b"01", b"23456789"])
        content = disk.kill().open("/data/f").read(0, 100)
        assert b"0123456789".startswith(content)
        lengths.add(len(content))
    assert {0, 10} < lengths


def test_a_dead_disk_serves_nobody() -> None:
    disk = _new_disk()
    file = disk.open("/data/f", create=True)
    after = disk.crash()
    with pytest.raises(SimulatedCrash):
        file.write(0, [b"x"])
    with pytest.raises(SimulatedCrash):
        disk.exists("/data/f")
    file.close()
    assert after.list("/") == ["data"]


def test_a_crash_passes_every_handler_of_errors() -> None:
    disk = _new_disk()
    disk.faults.fail_after(operations=0)

    def careless() -> None:
        try:
            disk.make_directory("/data/x")
        except Exception:  # noqa: BLE001 -- the point of the test
            pytest.fail("a dead process handled something")

    with pytest.raises(SimulatedCrash):
        careless()


def test_a_full_disk_takes_what_fits() -> None:
    disk = _new_disk(capacity_bytes=10)
    file = disk.open("/data/f", create=True)
    file.write(0, [b"0123456"])
    with pytest.raises(OSError) as caught:
        file.write(7, [b"789abc"])
    assert caught.value.errno == errno.ENOSPC
    assert file.read(0, 100) == b"0123456789"
    assert disk.free_bytes("/data") == 0
    file.write(2, [b"xy"])
    with pytest.raises(OSError, match="no space"):
        disk.open("/data/g", create=True).allocate(1)
    file.truncate(4)
    assert disk.free_bytes("/data") == 6
    disk.remove("/data/f")
    assert disk.free_bytes("/data") == 10


def test_a_rename_over_a_file_frees_its_room() -> None:
    disk = _new_disk(capacity_bytes=10)
    disk.open("/data/f", create=True).write(0, [b"01234"])
    disk.open("/data/g", create=True).write(0, [b"012"])
    disk.rename("/data/g", "/data/f")
    assert disk.free_bytes("/data") == 7
    assert disk.crash().free_bytes("/data") >= 7


def test_a_broken_path_fails_alone_and_heals() -> None:
    disk = _new_disk()
    disk.make_directory("/data/bad")
    disk.make_directory("/data/bad-not")
    file = disk.open("/data/bad/f", create=True)
    disk.faults.break_path("/data/bad")
    for call in (
        lambda: file.read(0, 1),
        lambda: file.write(0, [b"x"]),
        lambda: disk.list("/data/bad"),
        lambda: disk.open("/data/bad/f"),
    ):
        with pytest.raises(OSError) as caught:
            call()
        assert caught.value.errno == errno.EIO
    assert disk.list("/data/bad-not") == []
    assert disk.list("/data") == ["bad", "bad-not"]
    disk.faults.heal_path("/data/bad")
    assert file.read(0, 1) == b""


def test_a_flipped_bit_stays_flipped() -> None:
    disk = _new_disk()
    _save(disk, "/data/f", b"\x00\x00")
    disk.flip_bit("/data/f", position=1, bit=3)
    assert disk.crash().open("/data/f").read(0, 2) == b"\x00\x08"


def test_the_same_seed_gives_the_same_run() -> None:
    def run(seed: int) -> tuple[str, list[str], bytes]:
        disk = _new_disk(seed)
        file = disk.open("/data/f", create=True)
        for index in range(20):
            file.write(index * 10, [bytes([index]) * 10])
        disk.flush_directory("/data")
        after = disk.crash()
        return after.trace.digest(), after.trace.lines, after.open("/data/f").read(0, 1000)

    assert run(5) == run(5)
    assert len({run(seed)[2] for seed in range(10)}) > 3


def test_operations_are_counted_and_traced() -> None:
    disk = _new_disk()
    before = disk.operations
    file = disk.open("/data/f", create=True)
    file.write(0, [b"x"])
    file.read(0, 1)
    file.flush()
    assert disk.operations == before + 3
    assert disk.trace.lines[-3:] == [
        "create /data/f",
        "write /data/f 0+1 8cdc1683",
        "flush /data/f",
    ]


def test_files_carry_the_time_of_their_last_change() -> None:
    clock = SimClock(wall_ms=1000)
    disk = SimDisk(clock=clock)
    file = disk.open("/f", create=True)
    clock.advance(10)
    file.write(0, [b"x"])
    assert disk.stat("/f").modified_ms == 1010


def test_a_directory_and_a_file_do_not_replace_each_other() -> None:
    disk = _new_disk()
    disk.make_directory("/data/d")
    disk.open("/data/f", create=True)
    with pytest.raises(OSError, match="cannot replace"):
        disk.rename("/data/f", "/data/d")
    with pytest.raises(OSError, match="cannot replace"):
        disk.rename("/data/d", "/data/f")
    with pytest.raises(ValueError, match="not an absolute path"):
        disk.exists("data")


def test_an_appointed_crash_can_be_called_off() -> None:
    disk = _new_disk()
    disk.faults.fail_after(operations=1)
    disk.make_directory("/a")
    disk.faults.strike_no_more()
    disk.make_directory("/b")
    assert {"a", "b"} <= set(disk.list("/"))


def test_what_the_files_take_is_known() -> None:
    disk = _new_disk()
    _save(disk, "/a", bytes(100))
    assert disk.used_bytes == 100
