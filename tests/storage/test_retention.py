"""What retention takes, by which reason, and what it never takes."""

import pytest

from quire.storage import flush
from quire.storage.retention import enforce


def aged(tools, **settings):
    """A log of four segments of two batches each; segment n has timestamps around 1000 * n."""
    settings.setdefault("retention_ms", -1)
    home = tools.Home(segment_bytes=100_000, **settings)
    log = home.open()
    for number in range(4):
        for _ in range(2):
            tools.append(log, tools.batch(timestamp=1000 * number))
        if number < 3:
            log.roll(now_ms=1000 * number)
    log.update_high_watermark(log.log_end_offset)
    return home, log


def starts(log):
    return [segment.base_offset for segment in log.segments]


def test_old_segments_go_by_their_largest_timestamp(tools):
    home, log = aged(tools, retention_ms=1500)
    removed = enforce(log, now_ms=3000)
    assert (removed.by_time, removed.by_size, removed.by_log_start) == (2, 0, 0)
    assert removed.bytes > 0
    assert starts(log) == [12, 18]
    assert log.log_start_offset == 12
    assert [r.offset for r in tools.read_records(log)] == list(range(12, 24))
    assert "00000000000000000000.log.deleted" in home.names()
    assert "00000000000000000006.snapshot" not in home.names()


def test_the_active_segment_is_rolled_before_it_goes_and_then_kept_empty(tools):
    _, log = aged(tools, retention_ms=10)
    assert enforce(log, now_ms=10_000).by_time == 4
    assert starts(log) == [24]
    assert (log.log_start_offset, log.log_end_offset) == (24, 24)
    assert enforce(log, now_ms=99_999).by_time == 0


def test_the_oldest_go_while_the_rest_still_fills_the_size(tools):
    _, log = aged(tools)
    size = log.segments[0].size
    _, log = aged(tools, retention_bytes=3 * size - 1)
    assert enforce(log, now_ms=3000).by_size == 1
    assert starts(log) == [6, 12, 18]


def test_nothing_at_or_above_the_high_watermark_goes(tools):
    _, log = aged(tools, retention_ms=0)
    log.high_watermark = 11
    assert enforce(log, now_ms=10_000).by_time == 1
    assert starts(log) == [6, 12, 18]


@pytest.mark.parametrize("compact", [True, False])
def test_without_the_policy_delete_only_what_is_below_the_log_start_goes(tools, compact):
    _, log = aged(
        tools, retention_ms=0, retention_bytes=0,
        cleanup_policy_delete=False, cleanup_policy_compact=compact,
    )  # fmt: skip
    assert enforce(log, now_ms=10_000).bytes == 0
    log.log_start_offset = 8
    assert enforce(log, now_ms=10_000).by_log_start == 1
    assert starts(log) == [6, 12, 18]


def test_records_below_a_later_start_are_not_served_and_whole_segments_go(tools):
    home, log = aged(tools)
    assert log.advance_log_start_offset(13, now_ms=5000)
    assert not log.advance_log_start_offset(13, now_ms=5000)
    assert starts(log) == [12, 18]
    assert log.leader_epochs.entries == ((1, 13),)
    log = home.close_and_open()
    assert log.log_start_offset == 13
    with pytest.raises(ValueError, match="above the high watermark"):
        log.advance_log_start_offset(25, now_ms=5000)


def test_a_segment_without_timestamps_goes_by_the_age_of_its_file(tools):
    home = tools.Home(retention_ms=1000)
    log = home.open()
    tools.append(log, tools.batch(1, timestamp=-1))
    log.roll(now_ms=0)
    log.update_high_watermark(1)
    modified_ms = home.disk.stat(home.path("00000000000000000000.log")).modified_ms
    assert enforce(log, now_ms=modified_ms + 1000).by_time == 0
    assert enforce(log, now_ms=modified_ms + 1001).by_time == 1


def test_a_full_disk_refuses_retention_and_the_next_pass_goes_on(tools):
    home, log = aged(tools, retention_ms=1500, file_delete_delay_ms=0)
    home.disk.faults.capacity_bytes = 0
    with pytest.raises(OSError, match="no space"):
        enforce(log, now_ms=3000)
    assert log.failure is None
    home.disk.faults.capacity_bytes = None
    enforce(log, now_ms=3000)
    assert starts(log) == [12, 18]
    assert len(log.deletions.due(3000)) == 2


def test_while_a_flush_is_under_way_nothing_goes(tools):
    _, log = aged(tools, retention_ms=1500)
    plan = flush.begin(log, now_ms=3000)
    assert enforce(log, now_ms=3000).by_time == 0
    plan.run()
    flush.finish(log, plan)
    assert enforce(log, now_ms=3000).by_time == 2
