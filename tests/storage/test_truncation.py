"""A follower's log is cut: bytes, indexes, epochs and producers go back together."""

import pytest


def story(tools, home, batches=40):
    log = home.open()
    for number in range(batches):
        epoch = 1 + number // 10
        tools.append(
            log, tools.producer_batch(3 * number, timestamp=1000 + number), leader_epoch=epoch
        )
    return log


@pytest.mark.parametrize("offset", [0, 3, 27, 28, 60, 117, 119])
def test_a_cut_log_is_that_of_fewer_appends(tools, offset):
    limits = {"segment_bytes": 3000, "index_interval_bytes": 400}
    home, other = tools.Home(**limits), tools.Home(**limits)
    log = story(tools, home)
    expected = story(tools, other, offset // 3)
    assert log.truncate_to(offset, now_ms=tools.NOW_MS)
    assert log.log_end_offset == expected.log_end_offset
    assert log.leader_epochs.entries == expected.leader_epochs.entries
    assert tools.read_records(log) == tools.read_records(expected)
    assert log.segments.active.largest.timestamp == expected.segments.active.largest.timestamp
    if offset >= 3:
        assert log.producers.get(7).last_sequence == expected.producers.get(7).last_sequence
    else:
        assert log.producers.get(7) is None
    tools.append(log, tools.batch(), leader_epoch=9)
    log = home.close_and_open()
    assert log.log_end_offset == expected.log_end_offset + 3


def test_a_cut_at_or_above_the_end_changes_nothing(tools, home):
    log = story(tools, home, 2)
    assert not log.truncate_to(6, now_ms=tools.NOW_MS)
    assert log.truncations == 0


def test_a_cut_below_the_first_segment_starts_anew_there(tools, home):
    log = home.open(log_start_offset=10)
    home.fill(2)
    assert log.truncate_to(4, now_ms=tools.NOW_MS)
    assert (log.log_start_offset, log.log_end_offset) == (4, 4)


def test_a_log_that_starts_anew_has_no_past(tools, home):
    log = story(tools, home, 5)
    log.update_high_watermark(9)
    log.truncate_fully_and_start_at(100, now_ms=tools.NOW_MS)
    log.check()
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (100, 100, 100)
    assert (log.leader_epochs.latest, len(log.producers)) == (None, 0)
    assert [segment.base_offset for segment in log.segments] == [100]
    info = tools.append(log, tools.producer_batch(0))
    assert info.first_offset == 100


def test_an_aborted_transaction_whose_marker_is_cut_is_open_again(tools, home):
    log = home.open()
    tools.append(log, tools.producer_batch(0, is_transactional=True))
    tools.append(log, tools.marker(7, commit=False))
    log.truncate_to(3, now_ms=tools.NOW_MS)
    assert log.aborted_transactions(0, 9) == []
    assert log.producers.first_undecided_offset == 0


def test_an_aborted_transaction_whose_marker_was_cut_never_comes_back(tools):
    for seed in range(20):
        home = tools.Home(seed)
        log = home.open()
        tools.append(log, tools.producer_batch(0, is_transactional=True))
        tools.append(log, tools.marker(7, commit=False))
        log.roll(now_ms=0)
        log.flush(now_ms=0)
        assert len(log.aborted_transactions(0, tools.FAR)) == 1
        log.truncate_to(3, now_ms=0)
        for _ in range(2):  # the segment that was cut is not the last below the recovery point
            home.fill(1)
            log.roll(now_ms=0)
            log.flush(now_ms=0)
        assert home.crash_and_open().aborted_transactions(0, tools.FAR) == []


def test_what_was_cut_does_not_come_back_with_the_next_loss_of_power(tools):
    for seed in range(20):
        home = tools.Home(seed)
        log = home.open()
        home.fill(4)
        log.flush(now_ms=0)
        log.truncate_to(3, now_ms=0)
        assert home.crash_and_open().log_end_offset == 3
