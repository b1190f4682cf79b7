"""Appending: offsets, verdicts, one write per call, and nothing left behind when it fails."""

import errno

import pytest

from quire.errors import CorruptBatchError, ErrorCode
from quire.records.batch import iterate_headers
from quire.storage.append import UnexpectedOffsetError
from quire.storage.producer_state import Duplicate, Reject

LOG_NAME = "00000000000000000000.log"


def test_the_leader_stamps_offsets_and_its_epoch_in_place(tools, home):
    log = home.open()
    buffer = tools.batch(2) + tools.batch(3)
    info = log.append(buffer, leader_epoch=7, now_ms=tools.NOW_MS)
    assert (info.first_offset, info.last_offset, info.size) == (0, 4, len(buffer))
    stamped = [(h.base_offset, h.partition_leader_epoch) for _, h in iterate_headers(buffer)]
    assert stamped == [(0, 7), (2, 7)]
    assert home.bytes_of(LOG_NAME) == bytes(buffer)
    assert log.leader_epochs.entries == ((7, 0),)


def test_a_duplicate_is_answered_with_its_old_place_and_not_written(tools, home):
    log = home.open()
    tools.append(log, tools.producer_batch(0))
    tools.append(log, tools.producer_batch(3))
    assert tools.append(log, tools.producer_batch(0)) == Duplicate(0, 2, tools.NOW_MS)
    assert log.log_end_offset == 6


def test_a_gap_in_the_sequence_is_refused_and_not_written(tools, home):
    log = home.open()
    tools.append(log, tools.producer_batch(0))
    size = log.segments.active.size
    verdict = tools.append(log, tools.producer_batch(9))
    assert isinstance(verdict, Reject)
    assert verdict.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert (log.log_end_offset, log.segments.active.size) == (3, size)


def test_bytes_that_are_not_whole_batches_are_refused(tools, home):
    log = home.open()
    with pytest.raises(CorruptBatchError):
        log.append(tools.batch()[:-1], leader_epoch=1, now_ms=tools.NOW_MS)
    with pytest.raises(CorruptBatchError):
        log.append(bytearray(), leader_epoch=1, now_ms=tools.NOW_MS)
    assert log.log_end_offset == 0


def test_a_follower_keeps_offsets_and_epochs_and_leaves_out_a_partial_batch(tools, home):
    log = home.open()
    first = tools.batch(base_offset=10, partition_leader_epoch=2)
    second = tools.batch(base_offset=13, partition_leader_epoch=4)
    log.truncate_fully_and_start_at(10, now_ms=tools.NOW_MS)
    data = bytes(first + second + tools.batch(base_offset=16)[:-7])
    info = log.append_as_follower(data, now_ms=tools.NOW_MS)
    assert (info.first_offset, info.last_offset) == (10, 15)
    assert log.leader_epochs.entries == ((2, 10), (4, 13))
    assert [r.offset for r in tools.read_records(log)] == list(range(10, 16))
    assert log.append_as_follower(data[:20], now_ms=tools.NOW_MS) is None


def test_a_follower_refuses_offsets_below_its_end_and_wrong_checksums(tools, home):
    log = home.open()
    tools.append(log, tools.batch())
    with pytest.raises(UnexpectedOffsetError, match="3 or more is due"):
        log.append_as_follower(tools.batch(base_offset=2), now_ms=tools.NOW_MS)
    bad = tools.batch(base_offset=3)
    bad[-1] ^= 1
    with pytest.raises(CorruptBatchError, match="checksum"):
        log.append_as_follower(bad, now_ms=tools.NOW_MS)
    assert log.log_end_offset == 3


def test_a_full_disk_leaves_the_log_as_it_was(tools):
    home = tools.Home(index_interval_bytes=10)
    home.open()
    home.fill(3)
    log = home.log
    active = log.segments.active
    before = (log.log_end_offset, active.size, active.largest, home.bytes_of(LOG_NAME))
    home.disk.faults.capacity_bytes = 0
    with pytest.raises(OSError, match="space") as caught:
        tools.append(log, tools.batch(timestamp=tools.NOW_MS + 99))
    assert caught.value.errno == errno.ENOSPC
    assert (log.log_end_offset, active.size, active.largest, home.bytes_of(LOG_NAME)) == before
    assert log.failure is None
    home.disk.faults.capacity_bytes = None
    tools.append(log, tools.batch())
    assert [r.offset for r in tools.read_records(log)] == list(range(12))
    assert home.close_and_open().recovery.is_sound


def test_an_index_that_cannot_be_spilled_undoes_the_append(tools):
    home = tools.Home(index_interval_bytes=1)
    home.open()
    home.fill(510, records=1, value=b"")
    log = home.log
    for _ in range(4):
        home.disk.faults.break_path(home.path("00000000000000000000.index"))
        end = log.log_end_offset
        try:
            tools.append(log, tools.batch(1))
        except OSError:
            assert log.log_end_offset == end
            break
        home.disk.faults.heal_path(home.path("00000000000000000000.index"))
    else:
        pytest.fail("nothing was spilled")
    home.disk.faults.heal_path(home.path("00000000000000000000.index"))
    tools.append(log, tools.batch(1))
    offsets = [r.offset for r in tools.read_records(log)]
    assert offsets == list(range(log.log_end_offset))


def test_a_log_whose_file_cannot_be_cut_back_goes_offline(tools, home):
    log = home.open()
    home.fill(1)
    home.disk.faults.break_path(home.path(LOG_NAME))
    with pytest.raises(OSError, match="simulated"):
        tools.append(log, tools.batch())
    assert log.failure is not None


def test_an_aborted_transaction_is_indexed_when_its_marker_is_appended(tools, home):
    log = home.open()
    tools.append(log, tools.producer_batch(0, is_transactional=True))
    assert log.update_high_watermark(3) == 3
    assert log.last_stable_offset == 0
    tools.append(log, tools.marker(7, commit=False))
    assert log.last_stable_offset == 0
    log.update_high_watermark(4)
    assert log.last_stable_offset == 4
    assert log.aborted_transactions(0, 4) == [(7, 0, 3, 4)]
