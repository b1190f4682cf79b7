"""Cleaned files take the place of segments, whatever moment a crash picks."""

import pytest

from quire.records.batch import read_header
from quire.sim.disk import SimulatedCrash
from quire.storage.file_names import CLEANED, SWAP, SegmentPlace
from quire.storage.segment import Segment


def prepared(tools, seed=0):
    """Segments 0, 6, 12 of two batches each; `.cleaned` files that keep the last batch of 0 and 6."""
    home = tools.Home(seed, segment_bytes=2 * len(tools.batch()))
    log = home.open()
    home.fill(6)
    log.flush(now_ms=0)
    place = SegmentPlace(home.disk, home.directory, 0, CLEANED)
    cleaned = Segment.create(place, home.settings, now_ms=0)
    buffer = tools.batch(base_offset=9, partition_leader_epoch=1)
    cleaned.append((buffer,), [(0, read_header(buffer))])
    cleaned.seal()
    for file in cleaned.files_to_flush(with_indexes=True):
        file.flush()
    home.disk.flush_directory(home.directory)
    return home, log


def test_the_cleaned_segment_is_read_where_the_old_ones_were(tools):
    home, log = prepared(tools)
    assert log.replace_segments([0, 6], now_ms=0)
    assert [segment.base_offset for segment in log.segments] == [0, 12]
    assert [r.offset for r in tools.read_records(log)] == [9, 10, 11, *range(12, 18)]
    for deletion in log.deletions.due(log.settings.file_delete_delay_ms):
        deletion.run()
    assert not [name for name in home.names() if name.endswith((".deleted", CLEANED, SWAP))]
    assert tools.read_records(home.close_and_open())[0].offset == 9


@pytest.mark.parametrize("wanted", [[0, 12], [6, 12], [0, 6, 12], [3], [12]])
def test_segments_that_are_not_there_or_active_are_not_replaced(tools, wanted):
    home, log = prepared(tools)
    before = home.names()
    assert not log.replace_segments(wanted, now_ms=0)
    assert home.names() == before


def test_power_lost_at_any_moment_leaves_the_old_or_the_new(tools):
    outcomes = set()
    for struck_at in range(60):
        home, log = prepared(tools, struck_at)
        home.disk.faults.fail_after(operations=struck_at)
        try:
            log.replace_segments([0, 6], now_ms=0)
        except SimulatedCrash:
            home.disk = home.disk.crash()
        else:
            assert outcomes == {9, 18}
            return
        opened = home.open(recovery_point=12)
        offsets = [record.offset for record in tools.read_records(opened)]
        assert offsets in (list(range(18)), list(range(9, 18)))
        outcomes.add(len(offsets))
        assert not [name for name in home.names() if name.endswith((CLEANED, SWAP))]
    pytest.fail("the replacement never ended")


def test_an_error_in_the_middle_takes_the_log_offline_and_the_next_start_finishes(tools):
    home, log = prepared(tools)
    home.disk.faults.break_path(home.path("00000000000000000006.timeindex"))
    with pytest.raises(OSError, match="simulated"):
        log.replace_segments([0, 6], now_ms=0)
    assert log.failure is not None
    home.disk.faults.heal_path(home.path("00000000000000000006.timeindex"))
    home.disk = home.disk.kill()
    log = home.open(recovery_point=18)
    assert [r.offset for r in tools.read_records(log)] == [9, 10, 11, *range(12, 18)]


def test_segments_that_were_cut_and_filled_again_meanwhile_are_not_replaced(tools):
    _, log = prepared(tools)
    log.truncate_to(9, now_ms=0)
    for first_offset in (9, 12, 15):
        refilled = tools.batch(base_offset=first_offset, partition_leader_epoch=2)
        log.append_as_follower(refilled, now_ms=0)
    assert [segment.base_offset for segment in log.segments] == [0, 6, 12]
    assert not log.replace_segments([0, 6], now_ms=0)
    assert [r.offset for r in tools.read_records(log)] == list(range(18))
