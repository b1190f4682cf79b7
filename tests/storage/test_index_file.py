"""Entries in memory and in the file are one sequence."""

from struct import Struct

import pytest

from quire.errors import CorruptIndexError
from quire.sim.disk import SimDisk
from quire.storage.index_file import SPILL_BYTES, IndexFile

ENTRY = Struct(">q")


@pytest.fixture
def disk():
    made = SimDisk()
    made.make_directory("/d")
    return made


def test_no_file_is_made_before_the_first_spill(disk):
    index = IndexFile(disk, "/d/x", ENTRY, new=True)
    index.append(ENTRY.pack(1))
    assert not disk.exists("/d/x")
    index.spill()
    assert disk.stat("/d/x").size == 8


@pytest.mark.parametrize("spilled", [0, 3, 10])
@pytest.mark.parametrize("keep", [0, 2, 3, 7, 10])
def test_a_cut_reaches_both_parts(disk, spilled, keep):
    index = IndexFile(disk, "/d/x", ENTRY, new=True)
    for number in range(10):
        index.append(ENTRY.pack(number))
        if number + 1 == spilled:
            index.spill()
    assert index.last_at_most(20) == 9
    index.truncate(keep)
    assert [index.get(number)[0] for number in range(index.count)] == list(range(keep))
    index.append(ENTRY.pack(77))
    assert index.get(keep) == (77,)
    assert index.last_at_most(76) == keep - 1


def test_memory_is_emptied_by_four_kib(disk):
    index = IndexFile(disk, "/d/x", ENTRY, new=True)
    for number in range(SPILL_BYTES // 8 - 1):
        index.append(ENTRY.pack(number))
        index.spill_if_large()
    assert not disk.exists("/d/x")
    index.append(ENTRY.pack(9999))
    index.spill_if_large()
    assert disk.stat("/d/x").size == SPILL_BYTES


def test_a_size_between_two_entries_is_refused(disk):
    disk.open("/d/x", create=True).write(0, (b"123",))
    with pytest.raises(CorruptIndexError, match="no multiple"):
        IndexFile(disk, "/d/x", ENTRY, new=False)


def test_a_restart_forgets_all(disk):
    index = IndexFile(disk, "/d/x", ENTRY, new=True)
    index.append(ENTRY.pack(1))
    index.start_flush().flush()
    index.restart()
    assert (index.count, disk.stat("/d/x").size) == (0, 0)
    index.close()


def test_a_refused_spill_leaves_nothing_behind_what_was_spilled(disk):
    index = IndexFile(disk, "/d/x", ENTRY, new=True)
    for number in range(10):
        index.append(ENTRY.pack(number))
    disk.faults.capacity_bytes = 44
    with pytest.raises(OSError, match="no space"):
        index.spill()
    disk.faults.capacity_bytes = None
    index.truncate(2)
    index.spill()
    assert disk.stat("/d/x").size == 16
    assert [index.get(number) for number in range(2)] == [(0,), (1,)]
