"""Many partitions made and taken away at once, on a simulated disk that may fail at any operation."""

from __future__ import annotations

import contextlib
import errno

import pytest
from tests.storage.test_log_dirs import ORDERS, TOPIC_ID, Machine

from quire.errors import StorageError
from quire.sim.disk import SimulatedCrash
from quire.storage.checkpoints import RECOVERY_POINTS, read_offsets
from quire.storage.directory_names import Stage
from quire.storage.log_dirs import LogDirs
from quire.storage.making import NewPartition, plan_making, plan_removal
from quire.types import TopicPartition

WANTED = [NewPartition(key, TOPIC_ID) for key in ORDERS]


def make(machine: Machine, dirs: LogDirs, wanted: list[NewPartition]) -> None:
    for making in plan_making(dirs, wanted):
        making.begin()
        made = [making.make(one, machine.open_log) for one in making.partitions]
        making.finish()
        making.log_dir.logs.update({one.topic_partition: one for one in made})


def test_new_partitions_are_spread_and_there_after_a_crash() -> None:
    machine = Machine("/a", "/b")
    dirs = machine.start()
    make(machine, dirs, WANTED)
    assert [len(each.logs) for each in dirs.log_dirs] == [2, 2]
    machine.disk = machine.disk.crash()
    again = machine.start()
    assert [(one.topic_partition, one.topic_id) for one in again] == [
        (key, TOPIC_ID) for key in ORDERS
    ]


def test_a_cordoned_directory_gets_what_is_meant_for_it_only_unless_there_is_no_other() -> None:
    dirs = Machine("/a", "/b").start()
    (making,) = plan_making(dirs, WANTED, is_cordoned="/a".__eq__)
    assert (making.log_dir.path, len(making.partitions)) == ("/b", 4)
    meta = dirs.log_dirs[0].meta
    assert meta is not None
    named = [NewPartition(ORDERS[0], TOPIC_ID, meta.directory_id)]
    (making,) = plan_making(dirs, named, is_cordoned="/a".__eq__)
    assert making.log_dir.path == "/a"
    assert len(plan_making(dirs, WANTED, is_cordoned=lambda _: True)) == 2


def test_a_crash_at_any_operation_leaves_a_directory_that_loads() -> None:
    for operations in range(200):
        machine = Machine("/a", seed=operations)
        dirs = machine.start()
        machine.disk.faults.fail_after(operations=operations)
        with contextlib.suppress(SimulatedCrash):
            make(machine, dirs, WANTED)
            break
        machine.disk = machine.disk.crash()
        again = machine.start()
        assert again.broken == {}
        assert {one.topic_id for one in again} <= {TOPIC_ID, None}
        assert all(one.log.recovery_point == 0 for one in again)
    else:
        pytest.fail("the making never came to its end")
    assert operations > 20


def test_a_partition_that_does_not_fit_leaves_nothing() -> None:
    machine = Machine("/a")
    dirs = machine.start()
    machine.disk.faults.capacity_bytes = machine.disk.used_bytes
    (making,) = plan_making(dirs, WANTED[:1])
    with pytest.raises(OSError, match="space") as failure:
        making.make(WANTED[0], machine.open_log)
    assert failure.value.errno == errno.ENOSPC
    assert not machine.disk.exists("/a/orders-0")


def test_a_name_is_forgotten_by_the_checkpoints_before_it_is_used_again() -> None:
    machine = Machine("/a")
    dirs = machine.start()
    make(machine, dirs, WANTED)
    dirs.checkpoint_recovery_points()
    (removal,) = plan_removal(dirs, ORDERS[:1], Stage.DELETE, entropy=machine.entropy)
    removal.run()
    assert ORDERS[0] in read_offsets(machine.disk, f"/a/{RECOVERY_POINTS}")
    make(machine, dirs, WANTED[:1])
    assert ORDERS[0] not in read_offsets(machine.disk, f"/a/{RECOVERY_POINTS}")


def test_removals_rename_all_and_flush_once_for_each_directory() -> None:
    machine = Machine("/a", "/b")
    dirs = machine.start()
    make(machine, dirs, WANTED)
    before = len(machine.disk.trace.lines)
    removals = plan_removal(dirs, ORDERS, Stage.STRAY, entropy=machine.entropy)
    for removal in removals:
        removal.run()
        removal.run()  # again changes nothing
    lines = machine.disk.trace.lines[before:]
    assert sum("rename" in line for line in lines) == 4
    assert list(dirs) == []
    for path in ("/a", "/b"):
        assert sum(name.endswith("-stray") for name in machine.disk.list(path)) == 2


def test_what_is_not_there_cannot_be_removed() -> None:
    machine = Machine("/a")
    dirs = machine.start()
    gone = [TopicPartition("nobody", 0)]
    assert plan_removal(dirs, gone, Stage.DELETE, entropy=machine.entropy) == []


def test_a_directory_that_nobody_has_cannot_be_named() -> None:
    machine = Machine("/a")
    dirs = machine.start()
    with pytest.raises(StorageError, match="no log directory works"):
        plan_making(dirs, [NewPartition(ORDERS[0], TOPIC_ID, b"x" * 16)])
