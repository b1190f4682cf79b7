"""The offset index against a linear scan of its entries."""

from hypothesis import given
from hypothesis import strategies as st

from quire.sim.disk import SimDisk
from quire.storage.file_names import SegmentPlace
from quire.storage.offset_index import ENTRY, OffsetIndex


def new_index(base_offset=100):
    disk = SimDisk()
    disk.make_directory("/d")
    place = SegmentPlace(disk, "/d", base_offset)
    return place, OffsetIndex(place, new=True)


@given(
    steps=st.lists(st.integers(1, 50), min_size=1, max_size=1200),
    spilled=st.booleans(),
    wanted=st.integers(-5, 3000),
)
def test_a_search_finds_what_a_linear_scan_finds(steps, spilled, wanted):
    _, index = new_index()
    entries, offset = [], 100
    for number, step in enumerate(steps):
        offset += step
        entries.append((offset, 10 * (number + 1)))
        index.append(*entries[-1])
    if spilled:
        index.entries.spill()
    expected = [position for last, position in entries if last <= 100 + wanted]
    assert index.position_for(100 + wanted) == (expected[-1] if expected else 0)
    behind = [last + 1 for last, position in entries if position >= wanted]
    assert index.end_before(wanted) == (behind[0] if behind else None)
    index.truncate_to(100 + wanted)
    assert index.entries.count == sum(last < 100 + wanted for last, _ in entries)


def test_the_example_of_the_format_page_is_read():
    assert ENTRY.unpack(bytes.fromhex("00 00 00 38 00 00 10 50")) == (185 - 129, 4176)


def test_an_index_is_full_at_its_size_in_whole_entries():
    _, index = new_index()
    index.append(101, 10)
    assert index.is_full(15)
    assert not index.is_full(16)
    index.append(102, 20)
    assert index.is_full(16)


def test_what_was_spilled_is_there_when_it_is_opened_again():
    place, index = new_index()
    for number in range(1, 700):
        index.append(100 + number, 10 * number)
    index.entries.spill()
    index.entries.close()
    again = OffsetIndex(place, new=False)
    again.check(7000)
    assert (again.entries.count, again.last_position()) == (699, 6990)
