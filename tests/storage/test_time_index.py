"""The time index: only later timestamps count, and a search never starts too late."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import CorruptIndexError
from quire.sim.disk import SimDisk
from quire.storage.file_names import SegmentPlace
from quire.storage.time_index import ENTRY, TimeIndex


def new_index():
    disk = SimDisk()
    disk.make_directory("/d")
    return TimeIndex(SegmentPlace(disk, "/d", 100), new=True)


@given(stamps=st.lists(st.integers(0, 99), max_size=60), wanted=st.integers(0, 100))
def test_no_batch_before_the_offset_found_is_late_enough(stamps, wanted):
    index = new_index()
    largest, largest_offset = -1, 100
    for number, stamp in enumerate(stamps):
        if stamp > largest:
            largest, largest_offset = stamp, 100 + number
        index.append(largest, largest_offset)
    found = index.offset_before(wanted)
    assert all(stamp < wanted for number, stamp in enumerate(stamps) if 100 + number < found)
    assert index.last() == (largest, largest_offset)
    assert index.entries.count == len({max(stamps[: n + 1]) for n in range(len(stamps))})


def test_a_cut_forgets_later_timestamps():
    index = new_index()
    for number in range(5):
        index.append(1000 + number, 100 + number)
    index.truncate_to(103)
    assert index.last() == (1002, 102)
    index.append(1001, 103)
    assert index.entries.count == 3
    index.append(1003, 103)
    assert index.entries.count == 4


def test_one_place_is_kept_for_the_last_entry():
    index = new_index()
    assert not index.is_full(24)
    index.append(1, 100)
    assert index.is_full(24)


def test_an_index_that_does_not_ascend_is_refused():
    index = new_index()
    for timestamp, offset in ((50, 5), (40, 6)):
        index.entries.append(ENTRY.pack(timestamp, offset))
    with pytest.raises(CorruptIndexError, match="does not follow"):
        index.check()


def test_the_example_of_the_format_page_is_read():
    entry = bytes.fromhex("00 00 00 00 00 0f 42 40 00 00 00 02")
    assert ENTRY.unpack(entry) == (1_000_000, 131 - 129)
