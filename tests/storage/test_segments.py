"""Segments by number, by slice and by offset."""

import pytest


def test_segments_are_found_by_offset(tools):
    home = tools.Home(segment_bytes=len(tools.batch()))
    home.open(log_start_offset=10)
    segments = home.fill(4).segments
    assert [segment.base_offset for segment in segments] == [10, 13, 16, 19]
    assert [segments.index_for(offset) for offset in (0, 10, 12, 13, 21, 99)] == [0, 0, 0, 1, 3, 3]
    assert segments.end_offset(0, 22) == 13
    assert segments.end_offset(3, 22) == 22
    assert segments[1:] == [segments[1], segments[2], segments[3]]
    assert segments.active is segments[-1]
    assert segments.total_bytes() == 4 * len(tools.batch())
    with pytest.raises(AssertionError):
        segments.add(segments[0])
