"""Unclean starts: torn tails, bad checksums, sound batches behind bad ones, states made anew."""

import pytest

from quire.errors import CorruptBatchError
from quire.storage.loading import LastStop
from quire.storage.log import Log
from quire.storage.recovery import verify

LOG_NAME = "00000000000000000000.log"


def filled(tools, home, batches=5):
    home.open()
    for number in range(batches):
        tools.append(home.log, tools.producer_batch(3 * number, value=b"%d" % number))
    home.log.close(now_ms=tools.NOW_MS)
    return home.bytes_of(LOG_NAME)


def test_a_tail_torn_at_any_byte_costs_that_batch_and_no_other(tools, home):
    data = filled(tools, home)
    last = len(data) - len(data) // 5
    for size in range(last, len(data) + 1):
        home.write(LOG_NAME, data[:size])
        log = home.open()
        whole = size == len(data)
        assert log.log_end_offset == (15 if whole else 12)
        assert log.recovery.is_sound == (size in (last, len(data)))
        assert log.recovery.truncated_bytes == (0 if whole else size - last)
        assert log.recovery.sound_batches_behind == 0
        assert log.producers.get(7).last_sequence == log.log_end_offset - 1
        assert len(home.bytes_of(LOG_NAME)) == log.segments.active.size


def test_any_flipped_bit_is_noticed_but_for_the_epoch_that_no_checksum_covers(tools, home):
    data = filled(tools, home, 3)
    size = len(data) // 3
    for position in range(size, 2 * size):
        within = position - size
        if 12 <= within < 16:
            continue
        bad = bytearray(data)
        bad[position] ^= 0x10
        home.write(LOG_NAME, bytes(bad))
        log = home.open()
        if within < 8:
            assert log.log_end_offset in (3, 6) or log.log_end_offset > 9
        else:
            assert log.log_end_offset == 3, within
            assert log.recovery.path == home.path(LOG_NAME)
            assert log.recovery.position == size


def test_sound_batches_behind_a_bad_one_are_reported_as_a_loss(tools, home):
    data = filled(tools, home)
    size = len(data) // 5
    bad = bytearray(data)
    bad[size + 70] ^= 1
    home.write(LOG_NAME, bytes(bad))
    report = home.open().recovery
    assert report.sound_batches_behind == 3
    assert report.truncated_bytes == 4 * size
    assert "wrong checksum" in report.reason
    assert not report.is_sound


def test_what_follows_a_bad_batch_goes_with_all_later_segments(tools):
    home = tools.Home(segment_bytes=500)
    home.open()
    home.fill(10)
    home.log.close(now_ms=tools.NOW_MS)
    logs = [name for name in home.names() if name.endswith(".log")]
    assert len(logs) >= 3
    bad = bytearray(home.bytes_of(logs[1]))
    bad[-1] ^= 1
    home.write(logs[1], bytes(bad))
    log = home.open()
    assert [segment.base_offset for segment in log.segments] == [0, int(logs[1][:20])]
    assert log.recovery.removed_segments == [home.path(name) for name in logs[2:]]
    assert [record.offset for record in tools.read_records(log)] == list(range(log.log_end_offset))
    assert home.path(logs[2]) + ".deleted" in [home.path(name) for name in home.names()]
    tools.append(log, tools.batch())


def damaged_below_the_recovery_point(tools, number):
    """A log whose segment `number` has a bad last batch, opened with everything flushed up to segment 2."""
    home = tools.Home(segment_bytes=500)
    home.open()
    home.fill(10)
    home.log.close(now_ms=tools.NOW_MS)
    sizes = [segment.size for segment in home.log.segments]
    name = home.log.segments[number].path.rpartition("/")[2]
    bad = bytearray(home.bytes_of(name))
    bad[-1] ^= 1
    home.write(name, bytes(bad))
    log = home.open(recovery_point=home.log.segments[2].base_offset)
    return home.path(name), sizes, log


def test_well_below_the_recovery_point_nothing_is_scanned(tools):
    path, sizes, log = damaged_below_the_recovery_point(tools, 0)
    assert log.recovery.is_sound
    assert log.recovery.scanned_bytes == sum(sizes[1:])
    faults = verify(log)
    assert [(fault.path, type(fault)) for fault in faults] == [(path, CorruptBatchError)]
    assert "wrong checksum" in faults[0].message


def test_damage_in_what_was_flushed_is_reported_and_nothing_is_cut(tools):
    path, sizes, log = damaged_below_the_recovery_point(tools, 1)
    assert [segment.size for segment in log.segments] == sizes
    assert [fault.path for fault in log.recovery.damaged] == [path]
    assert not log.recovery.is_sound
    assert log.recovery.truncated_bytes == 0
    tools.append(log, tools.batch())


def test_what_stands_behind_a_segment_sealed_after_its_flush_is_cut(tools):
    home = tools.Home(segment_bytes=500)
    home.open()
    home.fill(10)
    home.log.close(now_ms=tools.NOW_MS)
    name = home.log.segments[1].path.rpartition("/")[2]
    good = home.bytes_of(name)
    home.write(name, good + bytes(300))
    end_offset = home.log.log_end_offset
    log = home.open(recovery_point=home.log.segments[2].base_offset)
    assert log.recovery.is_sound
    assert home.bytes_of(name) == good
    assert log.log_end_offset == end_offset


def test_a_recovery_point_inside_a_segment_scans_that_segment(tools, home):
    filled(tools, home)
    log = home.open(recovery_point=7)
    assert log.recovery.scanned_bytes == log.segments.active.size
    assert log.recovery_point == 7


def test_a_recovery_point_above_the_log_is_brought_down(tools, home):
    filled(tools, home)
    assert home.open(recovery_point=1000).recovery_point == 15


def test_the_zeros_of_a_preallocated_segment_are_cut(tools, home):
    data = filled(tools, home)
    home.write(LOG_NAME, data + bytes(100_000))
    log = home.open()
    assert log.log_end_offset == 15
    assert len(home.bytes_of(LOG_NAME)) == len(data)
    assert log.recovery.truncated_bytes == 100_000


def test_a_batch_that_claims_more_than_there_is_takes_no_memory(tools, home):
    data = filled(tools, home)
    size = len(data) // 5
    bad = bytearray(data)
    bad[size + 8 : size + 12] = (2**31 - 1).to_bytes(4, "big")
    home.write(LOG_NAME, bytes(bad))
    log = home.open()
    assert log.log_end_offset == 3
    assert "left" in log.recovery.reason


def test_offsets_that_go_back_end_the_log(tools, home):
    data = filled(tools, home)
    size = len(data) // 5
    home.write(LOG_NAME, data[: 2 * size] + data[:size])
    log = home.open()
    assert log.log_end_offset == 6
    assert "comes where 6 or more is due" in log.recovery.reason


def test_aborted_transactions_are_found_again(tools):
    home = tools.Home(segment_bytes=700)
    home.open()
    story = [
        tools.producer_batch(0, producer_id=1, is_transactional=True),
        tools.producer_batch(0, producer_id=2, is_transactional=True),
        tools.marker(1, commit=False),
        tools.batch(),
        tools.marker(2, commit=True),
        tools.producer_batch(3, producer_id=2, is_transactional=True),
        tools.batch(),
        tools.marker(2, commit=False),
        tools.producer_batch(3, producer_id=1, is_transactional=True),
    ]
    for buffer in story:
        tools.append(home.log, buffer)
    expected = home.log.aborted_transactions(0, tools.FAR)
    assert [(t.producer_id, t.first_offset, t.last_offset) for t in expected] == [
        (1, 0, 6), (2, 11, 17),
    ]  # fmt: skip
    home.log.flush(now_ms=tools.NOW_MS)
    log = home.crash_and_open()
    assert log.aborted_transactions(0, tools.FAR) == expected
    for name in home.names():
        if name.endswith((".txnindex", ".snapshot")):
            home.disk.remove(home.path(name))
    log = home.open()
    assert log.aborted_transactions(0, tools.FAR) == expected
    log.update_high_watermark(log.log_end_offset)
    assert log.last_stable_offset == 18


def test_progress_is_told_after_every_segment(tools):
    home = tools.Home(segment_bytes=500)
    home.open()
    home.fill(10)
    total = home.log.segments.total_bytes()
    home.log.close(now_ms=tools.NOW_MS)
    told = []
    Log.open(
        home.disk,
        home.directory,
        home.settings,
        now_ms=tools.NOW_MS,
        last_stop=LastStop(),
        draw_below=lambda limit: 0,
        on_progress=lambda done, of: told.append((done, of)),
    )
    assert told[-1] == (total, total)
    assert told == sorted(told)


def test_a_large_batch_is_recovered_in_one_piece(tools, home):
    home.open()
    tools.append(home.log, tools.batch(1, value=b"x" * 5_000_000))
    tools.append(home.log, tools.batch())
    log = home.open()
    assert log.log_end_offset == 4
    assert log.recovery.scanned_bytes > 5_000_000


@pytest.mark.parametrize("size", [1, 11, 12, 60])
def test_a_log_of_a_few_stray_bytes_is_empty(tools, home, size):
    home.open()
    home.log.close(now_ms=tools.NOW_MS)
    home.write(LOG_NAME, b"\x00" * size)
    log = home.open()
    assert (log.log_end_offset, log.segments.active.size) == (0, 0)


def test_a_segment_behind_a_lost_one_is_not_kept(tools):
    home = tools.Home(segment_bytes=500)
    home.open()
    home.fill(10)
    home.log.close(now_ms=tools.NOW_MS)
    logs = [name for name in home.names() if name.endswith(".log")]
    home.disk.remove(home.path(logs[1]))
    log = home.open()
    assert log.log_end_offset == int(logs[1][:20])
    assert "ends at" in log.recovery.reason
    assert log.recovery.removed_segments == [home.path(name) for name in logs[2:]]


def test_compaction_may_leave_gaps_between_segments(tools):
    home = tools.Home(segment_bytes=600)
    log = home.open()
    for base_offset in (0, 5, 12, 15):
        log.append_as_follower(tools.batch(base_offset=base_offset), now_ms=tools.NOW_MS)
    assert [segment.base_offset for segment in log.segments] == [0, 12]
    log.close(now_ms=tools.NOW_MS)
    log = home.open()
    assert log.log_end_offset == 18
    assert log.recovery.is_sound


def test_what_recovery_cut_does_not_come_back_with_the_next_loss_of_power(tools):
    name = "00000000000000000000.log"
    for seed in range(20):
        home = tools.Home(seed)
        home.open()
        home.fill(2)
        sound = home.bytes_of(name)
        home.write(name, sound + b"torn" * 50)
        home.open()
        home.disk = home.disk.crash()
        assert home.bytes_of(name) == sound
