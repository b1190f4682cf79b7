"""When a segment is sealed, and what the next one begins with."""


def starts(log):
    return [segment.base_offset for segment in log.segments]


def test_a_segment_rolls_before_it_outgrows_its_size(tools):
    size = len(tools.batch())
    home = tools.Home(segment_bytes=2 * size)
    log = home.open()
    home.fill(5)
    assert starts(log) == [0, 6, 12]
    home = tools.Home(segment_bytes=2 * size - 1)
    home.open()
    assert starts(home.fill(3)) == [0, 3, 6]


def test_a_batch_above_the_segment_size_has_a_segment_of_its_own(tools):
    home = tools.Home(segment_bytes=300)
    log = home.open()
    tools.append(log, tools.batch(1, value=b"x" * 1000))
    tools.append(log, tools.batch(1))
    assert starts(log) == [0, 1]


def test_a_batch_much_later_than_the_first_one_rolls(tools):
    home = tools.Home(segment_ms=1000)
    log = home.open()
    for timestamp in (5000, 6000, 6001):
        tools.append(log, tools.batch(1, timestamp=timestamp))
    assert starts(log) == [0, 2]


def test_without_timestamps_the_clock_decides(tools):
    home = tools.Home(segment_ms=1000)
    log = home.open()
    tools.append(log, tools.batch(1, timestamp=-1))
    tools.append(log, tools.batch(1, timestamp=-1), now_ms=tools.NOW_MS + 1000)
    assert starts(log) == [0]
    tools.append(log, tools.batch(1, timestamp=-1), now_ms=tools.NOW_MS + 1001)
    assert starts(log) == [0, 2]


def test_a_full_index_rolls(tools):
    home = tools.Home(segment_index_bytes=36, index_interval_bytes=1)
    log = home.open()
    home.fill(6)
    assert starts(log) == [0, 15]


def test_an_offset_too_far_from_the_base_rolls(tools, home):
    log = home.open()
    for base_offset in (0, 2**31 - 3, 2**31):
        log.append_as_follower(tools.batch(base_offset=base_offset), now_ms=tools.NOW_MS)
    assert starts(log) == [0, 2**31]
    assert log.read(2**31, max_bytes=1, upper_bound_offset=tools.FAR).records.size > 0


def test_a_snapshot_and_the_largest_timestamp_are_left_behind(tools, home):
    log = home.open()
    tools.append(log, tools.producer_batch(0))
    assert log.roll(now_ms=tools.NOW_MS)
    assert not log.roll(now_ms=tools.NOW_MS)
    assert "00000000000000000003.snapshot" in home.names()
    assert len(home.bytes_of("00000000000000000000.timeindex")) == 12


def test_jitter_makes_a_segment_roll_early(tools):
    home = tools.Home(segment_ms=1000, segment_jitter_ms=900)
    log = home.open()
    assert 0 <= log.roll_jitter_ms < 900
    log.roll_jitter_ms = 400
    tools.append(log, tools.batch(1, timestamp=0))
    tools.append(log, tools.batch(1, timestamp=601))
    assert starts(log) == [0, 1]


def test_a_compacted_log_rolls_in_time_for_its_largest_compaction_lag(tools):
    aged = {"segment_ms": 10_000, "max_compaction_lag_ms": 1000}
    for compacted, expected in ((False, [0]), (True, [0, 2])):
        home = tools.Home(cleanup_policy_compact=compacted, **aged)
        log = home.open()
        for timestamp in (5000, 6000, 6001):
            tools.append(log, tools.batch(1, timestamp=timestamp))
        assert starts(log) == expected
