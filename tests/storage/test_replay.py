"""Producer state comes back from any snapshot and the log behind it."""

from quire.storage.replay import restore_producers


def state(log):
    return [producer.entry() for producer in log.producers]


def test_the_state_does_not_depend_on_the_snapshots_that_are_left(tools):
    home = tools.Home(segment_bytes=500)
    log = home.open()
    for number in range(4):
        for producer_id in (1, 2):
            tools.append(
                log,
                tools.producer_batch(3 * number, producer_id=producer_id, is_transactional=True),
            )
        tools.append(log, tools.marker(1, commit=number % 2 == 0))
    expected, undecided = state(log), log.producers.first_undecided_offset
    assert undecided == 3
    snapshots = [name for name in home.names() if name.endswith(".snapshot")]
    assert len(snapshots) >= 2
    for name in reversed(snapshots):
        assert restore_producers(log, end_offset=log.log_end_offset, now_ms=tools.NOW_MS) == []
        assert state(log) == expected
        assert log.producers.first_undecided_offset == undecided
        home.disk.remove(home.path(name))
    restore_producers(log, end_offset=log.log_end_offset, now_ms=tools.NOW_MS)
    assert state(log) == expected
