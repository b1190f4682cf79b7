"""Reads: where they start, where they end, and offsets found by time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.errors import CorruptBatchError
from quire.records.batch import Record, encode_batch, iterate_headers
from quire.storage.lookup import bytes_between, offset_of_max_timestamp


def headers_of(result):
    return [header for _, header in iterate_headers(result.records.read())]


def test_a_read_inside_a_batch_gives_that_batch(home):
    log = home.open()
    home.fill(3)
    result = log.read(4, max_bytes=10_000, upper_bound_offset=9)
    assert [header.base_offset for header in headers_of(result)] == [3, 6]


def test_the_first_batch_is_whole_and_later_ones_may_be_cut(home):
    log = home.open()
    home.fill(3)
    size = log.segments.active.size // 3
    assert log.read(0, max_bytes=1, upper_bound_offset=9).records.size == size
    assert log.read(0, max_bytes=1, upper_bound_offset=9, min_one=False).records.size == 0
    assert log.read(0, max_bytes=size + 5, upper_bound_offset=9).records.size == size + 5


def test_nothing_at_or_above_the_bound_is_given(tools):
    home = tools.Home(segment_bytes=600)
    log = home.open()
    home.fill(8)
    for offset in range(24):
        for bound in range(25):
            result = log.read(offset, max_bytes=1 << 20, upper_bound_offset=bound)
            for header in headers_of(result):
                assert header.last_offset < bound
                assert header.last_offset >= offset
            if offset // 3 < bound // 3:
                assert result.records.size > 0


def test_the_bytes_between_two_offsets_are_those_of_their_batches(tools):
    home = tools.Home(segment_bytes=600)
    log = home.open()
    home.fill(8)
    size = log.segments.total_bytes() // 8
    assert bytes_between(log, 0, 24) == 8 * size
    assert bytes_between(log, 3, 12) == 3 * size
    assert bytes_between(log, 24, 24) == 0


def test_a_gap_is_skipped_to_the_next_batch_even_in_the_next_segment(tools):
    home = tools.Home(segment_bytes=300)
    log = home.open()
    for base_offset in (0, 50, 90):
        log.append_as_follower(tools.batch(base_offset=base_offset), now_ms=tools.NOW_MS)
    assert len(log.segments) > 1
    for offset, base_offset in ((2, 0), (3, 50), (49, 50), (53, 90), (92, 90)):
        result = log.read(offset, max_bytes=1, upper_bound_offset=tools.FAR)
        assert headers_of(result)[0].base_offset == base_offset


def test_a_broken_header_met_by_a_read_names_file_and_position(tools, home):
    log = home.open()
    home.fill(3)
    size = log.segments.active.size // 3
    home.disk.flip_bit(home.path("00000000000000000000.log"), position=size + 16, bit=5)
    with pytest.raises(CorruptBatchError) as caught:
        log.read(5, max_bytes=1, upper_bound_offset=tools.FAR)
    assert caught.value.path == home.path("00000000000000000000.log")
    assert caught.value.position == size


@settings(max_examples=60, deadline=None)
@given(
    stamps=st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=4), min_size=1, max_size=25),
    wanted=st.integers(0, 51),
)
def test_a_timestamp_is_found_where_a_linear_scan_finds_it(tools, stamps, wanted):
    home = tools.Home(segment_bytes=700, index_interval_bytes=100)
    log = home.open()
    records = []
    for batch_stamps in stamps:
        batch = [
            Record(number, stamp, None, b"x" * 20) for number, stamp in enumerate(batch_stamps)
        ]
        records += [(log.log_end_offset + r.offset, r.timestamp) for r in batch]
        tools.append(log, encode_batch(batch))
    found = log.offset_for_timestamp(wanted)
    expected = next(((o, t) for o, t in records if t >= wanted), None)
    assert (None if found is None else (found.offset, found.timestamp)) == expected
    latest = offset_of_max_timestamp(log)
    largest = max(stamp for _, stamp in records)
    assert (latest.offset, latest.timestamp) == next(r for r in records if r[1] == largest)


def test_an_empty_log_has_no_timestamps(home):
    log = home.open()
    assert log.offset_for_timestamp(0) is None
    assert offset_of_max_timestamp(log) is None


def test_records_below_the_log_start_are_not_found_by_time(tools, home):
    log = home.open()
    tools.append(log, tools.batch(timestamp=2000))
    tools.append(log, tools.batch(timestamp=1000))
    log.update_high_watermark(6)
    log.advance_log_start_offset(2, now_ms=tools.NOW_MS)
    assert log.offset_for_timestamp(0).offset == 2
    log.advance_log_start_offset(4, now_ms=tools.NOW_MS)
    assert log.offset_for_timestamp(0)[:2] == (4, 999)


def test_aborted_transactions_are_those_that_overlap_what_is_read(tools, home):
    log = home.open()
    for number in range(3):
        tools.append(log, tools.producer_batch(3 * number, is_transactional=True))
        tools.append(log, tools.marker(7, commit=False))
    spans = [(t.first_offset, t.last_offset) for t in log.aborted_transactions(0, 12)]
    assert spans == [(0, 3), (4, 7), (8, 11)]
    assert [t.first_offset for t in log.aborted_transactions(4, 8)] == [4]
    assert [t.first_offset for t in log.aborted_transactions(3, 5)] == [0, 4]
    assert log.aborted_transactions(12, 12) == []


@pytest.mark.parametrize("segment_bytes", [600, 1 << 20])
def test_what_was_read_names_the_aborted_transactions_in_it_and_few_more(tools, segment_bytes):
    home = tools.Home(index_interval_bytes=1, segment_bytes=segment_bytes)
    log = home.open()
    for number in range(20):
        tools.append(log, tools.producer_batch(3 * number, is_transactional=True))
        tools.append(log, tools.marker(7, commit=False))
    log.update_high_watermark(80)
    for offset in range(80):
        for max_bytes in (1, 300, 1000):
            found = log.read(offset, max_bytes=max_bytes, upper_bound_offset=80, min_one=True)
            end = max(header.last_offset for header in headers_of(found)) + 1
            wanted = log.aborted_transactions(offset, end)
            named = log.aborted_transactions(offset, 80, found.records)
            assert named[: len(wanted)] == wanted
            assert len(named) <= len(wanted) + 2
