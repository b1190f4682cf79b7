from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from quire.storage.cleaner.plan import LogFacts, SegmentFacts, cleanable, groups
from quire.storage.settings import LogSettings

COMPACT = LogSettings(cleanup_policy_compact=True, cleanup_policy_delete=False, segment_bytes=1000)


def segment(
    base: int, end: int, *, size: int = 400, first: int = 0, largest: int = 0
) -> SegmentFacts:
    return SegmentFacts(base, end, size, 80, 120, first, largest)


def log_of(
    *sealed: SegmentFacts, stable: int | None = None, start: int = 0, flushed: int = 1 << 40
) -> LogFacts:
    active = sealed[-1].end_offset if sealed else start
    return LogFacts(sealed, start, active, active + 50 if stable is None else stable, flushed)


THREE = (segment(0, 10), segment(10, 20), segment(20, 30))


def test_a_log_that_was_never_cleaned_is_all_dirty_up_to_its_active_segment() -> None:
    found = cleanable(log_of(*THREE), COMPACT, None, now_ms=0)
    assert (found.first_dirty_offset, found.first_uncleanable_offset) == (0, 30)
    assert found.dirty_ratio == 1.0


def test_the_checkpoint_divides_clean_from_dirty() -> None:
    found = cleanable(log_of(*THREE), COMPACT, 20, now_ms=0)
    assert (found.clean_bytes, found.cleanable_bytes) == (800, 400)
    assert not found.checkpoint_distrusted


def test_a_checkpoint_beyond_the_active_segment_is_distrusted() -> None:
    found = cleanable(log_of(*THREE), COMPACT, 31, now_ms=0)
    assert found.checkpoint_distrusted
    assert found.first_dirty_offset == 0


def test_a_checkpoint_below_the_log_start_moves_up_with_it() -> None:
    found = cleanable(log_of(*THREE, start=12), COMPACT, 5, now_ms=0)
    assert found.first_dirty_offset == 12


def test_nothing_is_cleaned_from_the_last_stable_offset_on() -> None:
    found = cleanable(log_of(*THREE, stable=15), COMPACT, None, now_ms=0)
    assert found.first_uncleanable_offset == 15
    assert found.cleanable_bytes == 800


def test_nothing_is_cleaned_that_a_crash_could_still_take() -> None:
    found = cleanable(log_of(*THREE, flushed=10), COMPACT, None, now_ms=0)
    assert found.first_uncleanable_offset == 10
    assert found.cleanable_bytes == 400


def test_records_younger_than_the_minimum_lag_wait() -> None:
    segments = (
        segment(0, 10, largest=100),
        segment(10, 20, largest=900),
        segment(20, 30, largest=950),
    )
    settings = replace(COMPACT, min_compaction_lag_ms=200)
    assert cleanable(log_of(*segments), settings, None, now_ms=1000).first_uncleanable_offset == 10


def test_a_log_is_overdue_when_its_oldest_dirty_record_has_waited_too_long() -> None:
    segments = (segment(0, 10, first=100), segment(10, 20, first=500))
    settings = replace(COMPACT, max_compaction_lag_ms=300)
    assert cleanable(log_of(*segments), settings, None, now_ms=1000).overdue_ms == 600
    assert cleanable(log_of(*segments), settings, 10, now_ms=1000).overdue_ms == 200
    assert cleanable(log_of(*segments), settings, 10, now_ms=700).overdue_ms == 0


def test_segments_merge_while_they_fit_into_one() -> None:
    found = groups([*THREE, segment(30, 40, size=900)], COMPACT)
    assert [[s.base_offset for s in group] for group in found] == [[0, 10], [20], [30]]


def test_a_group_never_spans_more_offsets_than_an_index_can_name() -> None:
    far = segment(2**31, 2**31 + 5, size=1)
    assert len(groups([segment(0, 10, size=1), far], COMPACT)) == 2
    near = segment(2**31 - 5, 2**31, size=1)
    assert len(groups([segment(0, 10, size=1), near], COMPACT)) == 1


def test_a_segment_larger_than_the_limit_stands_alone() -> None:
    found = groups([segment(0, 10, size=5000), segment(10, 20, size=1)], COMPACT)
    assert [len(group) for group in found] == [1, 1]


@given(st.lists(st.integers(1, 1200), min_size=1, max_size=30))
def test_groups_keep_every_segment_in_order_and_within_the_limits(sizes: list[int]) -> None:
    segments = [segment(i * 10, i * 10 + 10, size=size) for i, size in enumerate(sizes)]
    found = groups(segments, COMPACT)
    assert [s for group in found for s in group] == segments
    for group in found:
        assert len(group) == 1 or sum(s.size for s in group) <= COMPACT.segment_bytes
