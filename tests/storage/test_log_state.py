"""The last stable offset, and what an offline log answers."""

import pytest

from quire.storage.log_state import LogOfflineError


def test_the_last_stable_offset_waits_for_the_earliest_transaction(tools, home):
    log = home.open()
    tools.append(log, tools.batch())
    tools.append(log, tools.producer_batch(0, producer_id=1, is_transactional=True))
    tools.append(log, tools.producer_batch(0, producer_id=2, is_transactional=True))
    log.update_high_watermark(2)
    assert log.last_stable_offset == 2
    log.update_high_watermark(9)
    assert log.last_stable_offset == 3
    tools.append(log, tools.marker(1, commit=True))
    log.update_high_watermark(10)
    assert log.last_stable_offset == 6
    tools.append(log, tools.marker(2, commit=True))
    assert log.last_stable_offset == 6
    log.update_high_watermark(11)
    assert log.last_stable_offset == 11
    log.check()


def test_an_offline_log_says_why(home):
    log = home.open()
    log.failure = OSError(5, "gone")
    with pytest.raises(LogOfflineError, match="gone"):
        log.fail_if_offline()


def test_the_last_stable_offset_is_never_below_the_log_start(tools, home):
    log = home.open()
    tools.append(log, tools.producer_batch(0, producer_id=1, is_transactional=True))
    home.fill(2)
    log.update_high_watermark(9)
    log.advance_log_start_offset(5, now_ms=tools.NOW_MS)
    assert log.last_stable_offset == 5
    log.check()


@pytest.mark.parametrize(
    "half_done",
    [
        lambda log: log.truncate_to(2, now_ms=0),
        lambda log: log.truncate_fully_and_start_at(50, now_ms=0),
        lambda log: log.advance_log_start_offset(12, now_ms=0),
    ],
)
def test_what_stayed_half_done_takes_the_log_offline(tools, half_done):
    home = tools.Home(segment_bytes=2 * len(tools.batch()))
    log = home.open()
    home.fill(8)
    log.update_high_watermark(log.log_end_offset)
    home.disk.faults.break_path(home.path("00000000000000000006.log"))
    with pytest.raises(OSError, match="simulated"):
        half_done(log)
    with pytest.raises(LogOfflineError):
        log.read(12, max_bytes=1, upper_bound_offset=24)
