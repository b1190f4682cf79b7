"""Flushing in three steps, the flush policy, and those who wait for it."""

from quire.storage import flush
from quire.storage.flush import GroupCommit


def test_the_recovery_point_moves_only_when_the_plan_has_finished(tools, home):
    log = home.open()
    home.fill(2)
    plan = flush.begin(log, now_ms=5)
    tools.append(log, tools.batch())
    assert log.recovery_point == 0
    plan.run()
    assert log.recovery_point == 0
    flush.finish(log, plan)
    assert (log.recovery_point, log.log_end_offset, log.last_flush_ms) == (6, 9, 5)
    assert home.crash_and_open().log_end_offset >= 6


def test_a_truncation_during_the_flush_keeps_the_recovery_point_down(tools, home):
    log = home.open()
    home.fill(4)
    plan = flush.begin(log, now_ms=5)
    plan.run()
    log.truncate_to(3, now_ms=5)
    home.fill(5)
    flush.finish(log, plan)
    assert log.recovery_point == 0


def test_a_flush_of_what_is_sealed_leaves_the_active_segment_alone(tools):
    home = tools.Home(segment_bytes=500)
    log = home.open()
    home.fill(5)
    sealed_end = log.segments.active.base_offset
    plan = flush.begin(log, now_ms=0, up_to=sealed_end)
    paths = [file.path for file in plan.files]
    assert log.segments.active.path not in paths
    assert home.path("00000000000000000000.index") in paths
    plan.run()
    flush.finish(log, plan)
    log.flush(now_ms=0, up_to=sealed_end)
    assert log.recovery_point == sealed_end


def test_a_flush_of_the_active_segment_needs_no_index(home):
    log = home.open()
    home.fill(2)
    plan = flush.begin(log, now_ms=0)
    assert [file.path for file in plan.files] == [log.segments.active.path]


def test_a_flush_is_due_by_messages_by_time_or_after_a_roll(tools):
    home = tools.Home(flush_messages=6, flush_ms=1000)
    log = home.open()
    log.last_flush_ms = 0
    assert flush.flush_due(log, now_ms=99_999) is None
    home.fill(1)
    assert flush.flush_due(log, now_ms=999) is None
    assert flush.flush_due(log, now_ms=1000) == 3
    log.roll(now_ms=0)
    assert flush.flush_due(log, now_ms=999) == 3
    home.fill(1)
    assert flush.flush_due(log, now_ms=999) == 6
    log.flush(now_ms=999)
    assert flush.flush_due(log, now_ms=5000) is None


def test_one_flush_serves_all_who_came_before_it_began():
    commits = GroupCommit()
    assert commits.next_flush() is None
    commits.wait(10, "a")
    commits.wait(20, "b")
    assert commits.next_flush() == 20
    assert commits.next_flush() is None
    commits.wait(30, "c")
    assert commits.flushed(20) == ["a", "b"]
    assert commits.next_flush() == 30
    assert commits.flushed(25) == []
    assert (commits.next_flush(), len(commits)) == (30, 1)
    assert commits.failed() == ["c"]
    assert len(commits) == 0


def test_a_clean_stop_brings_every_file_to_its_size(tools):
    home = tools.Home(preallocate=True, segment_bytes=10_000)
    log = home.open()
    home.fill(2)
    name = "00000000000000000000.log"
    assert len(home.bytes_of(name)) == 10_000
    size = log.segments.active.size
    log.close(now_ms=tools.NOW_MS)
    assert len(home.bytes_of(name)) == size
    assert len(home.bytes_of("00000000000000000000.timeindex")) == 12
    assert home.bytes_of("00000000000000000000.index") == b""


def test_who_waits_for_what_a_truncation_dropped_is_told_and_asks_for_no_more_flushes():
    commits = GroupCommit()
    commits.wait(10, "kept")
    commits.wait(20, "dropped")
    assert commits.next_flush() == 20
    assert commits.truncated(15) == ["dropped"]
    assert commits.flushed(15) == ["kept"]
    assert commits.next_flush() is None
