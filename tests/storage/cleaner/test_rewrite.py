from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.storage.cleaner.cleaning import (
    DIRECTORY,
    LOG_DIR,
    SETTINGS,
    STOCK,
    Cleaning,
    Writer,
    batches,
    committed,
    newest,
    open_log,
)

from quire.errors import CorruptBatchError
from quire.records.batch import Compression
from quire.sim.disk import SimDisk
from quire.storage.cleaner.schedule import CompactedLog


@pytest.fixture
def disk() -> SimDisk:
    return SimDisk(1)


@pytest.mark.parametrize("compression", list(Compression))
def test_only_the_newest_value_of_each_key_stays(disk: SimDisk, compression: Compression) -> None:
    log = open_log(disk)
    writer = Writer(log, compression)
    for round_number in range(30):
        writer.put(*((f"k{n}", f"value-{round_number}-{n}") for n in range(5)))
    log.roll(now_ms=100)
    end = log.log_end_offset
    done = Cleaning(disk).run(log, now_ms=100)
    assert done is not None
    assert done.clean_until_offset == end
    kept = [record for _, records in batches(log) for record in records]
    assert newest(kept) == {f"k{n}".encode(): f"value-29-{n}".encode() for n in range(5)}
    assert [record.offset for record in kept] == [145, 146, 147, 148, 149]
    assert log.log_end_offset == end
    assert (done.records_before, done.records_after) == (150, 5)


def test_the_cleaned_log_opens_again_with_the_same_offsets(disk: SimDisk) -> None:
    log = open_log(disk)
    writer = Writer(log)
    for n in range(60):
        writer.put((f"k{n % 7}", f"{n}"))
    log.roll(now_ms=100)
    Cleaning(disk).run(log, now_ms=100)
    before = [record for _, records in batches(log) for record in records]
    end = log.log_end_offset
    log.close(now_ms=100)
    again = open_log(disk)
    assert [record for _, records in batches(again) for record in records] == before
    assert again.log_end_offset == end
    assert again.recovery.is_sound


def test_segments_that_shrink_are_merged(disk: SimDisk) -> None:
    log = open_log(disk)
    writer = Writer(log)
    for n in range(100):
        writer.put((f"k{n % 3}", f"{n}" * 10))
    log.roll(now_ms=100)
    cleaning = Cleaning(disk)
    before = len(log.segments)
    for moment in (100, 200, 300):
        writer.put(("k0", "again"))
        log.roll(now_ms=moment)
        cleaning.run(log, now_ms=moment)
    assert before > 10
    assert len(log.segments) <= 3


def test_a_tombstone_stays_until_its_delete_horizon_has_passed(disk: SimDisk) -> None:
    log = open_log(disk)
    writer = Writer(log)
    cleaning = Cleaning(disk)
    writer.put(("gone", "x"), ("kept", "y"))
    writer.put(("gone", None))
    writer.put(("other", "z"))
    log.roll(now_ms=100)
    cleaning.run(log, now_ms=100)
    horizons = [
        header.delete_horizon_ms
        for header, records in batches(log)
        if any(r.value is None for r in records)
    ]
    assert horizons == [1100]
    writer.put(("more", "1"))
    log.roll(now_ms=1099)
    cleaning.run(log, now_ms=1099)
    assert any(r.key == b"gone" for r in committed(log))
    writer.put(("more", "2"))
    log.roll(now_ms=1100)
    cleaning.run(log, now_ms=1100)
    assert not any(r.key == b"gone" for r in committed(log))
    assert newest(committed(log)) == {b"kept": b"y", b"other": b"z", b"more": b"2"}


def test_aborted_data_goes_at_once_and_its_marker_after_the_horizon(disk: SimDisk) -> None:
    log = open_log(disk)
    writer = Writer(log)
    cleaning = Cleaning(disk)
    writer.put(("a", "committed"), producer=1, transactional=True)
    writer.end(1, commit=True)
    writer.put(("a", "aborted"), ("b", "aborted"), producer=2, transactional=True)
    writer.end(2, commit=False)
    for producer in (
        1,
        2,
    ):  # the last data of a producer stays as a header; let newer data be the last
        writer.put(("p", f"{producer}"), producer=producer, transactional=True)
        writer.end(producer, commit=True)
    log.roll(now_ms=100)

    def aborts() -> list[int | None]:
        return [
            h.delete_horizon_ms
            for h, _ in batches(log)
            if h.is_control and h.producer_id == 2 and h.base_offset == 4
        ]

    cleaning.run(log, now_ms=100)
    values = [r.value for h, records in batches(log) for r in records if not h.is_control]
    assert b"aborted" not in values
    assert newest(committed(log)) == {b"a": b"committed", b"p": b"2"}
    assert aborts() == [None], "this pass met data of the transaction"
    writer.put(("x", "1"))
    log.roll(now_ms=200)
    cleaning.run(log, now_ms=200)
    assert aborts() == [1200], "no data is left: the horizon starts"
    writer.put(("x", "2"))
    log.roll(now_ms=1300)
    cleaning.run(log, now_ms=1300)
    assert aborts() == []
    assert newest(committed(log)) == {b"a": b"committed", b"p": b"2", b"x": b"2"}


def test_the_last_batch_of_an_active_producer_stays_as_a_header(disk: SimDisk) -> None:
    log = open_log(disk)
    writer = Writer(log)
    writer.put(("k", "1"), producer=5)
    writer.put(("k", "2"), producer=6)
    writer.put(("z", "end"))
    log.roll(now_ms=100)
    Cleaning(disk).run(log, now_ms=100)
    empty = [header for header, records in batches(log) if not records]
    assert [(h.producer_id, h.base_sequence, h.base_timestamp) for h in empty] == [(5, 0, -1)]
    log.close(now_ms=100)
    disk.remove(f"{DIRECTORY}/{log.log_end_offset:020d}.snapshot")
    for name in [n for n in disk.list(DIRECTORY) if n.endswith(".snapshot")]:
        disk.remove(f"{DIRECTORY}/{name}")
    again = open_log(disk)
    producer = again.producers.get(5)
    assert producer is not None
    assert producer.last_sequence == 0


def test_a_record_without_a_key_is_dropped_and_counted(disk: SimDisk) -> None:
    log = open_log(disk)
    writer = Writer(log)
    writer.put((None, "lost"), ("k", "v"))
    writer.put(("z", "end"))
    log.roll(now_ms=100)
    done = Cleaning(disk).run(log, now_ms=100)
    assert done is not None
    assert done.keyless_records == 1
    assert newest(committed(log)) == {b"k": b"v", b"z": b"end"}


def test_a_full_map_cleans_as_far_as_it_reached_and_the_rest_next_time(disk: SimDisk) -> None:
    log = open_log(disk)
    writer = Writer(log)
    for n in range(80):
        writer.put((f"k{n}", "first"))
    for n in range(80):
        writer.put((f"k{n}", "second"))
    log.roll(now_ms=100)
    cleaning = Cleaning(disk, map_bytes=24 * 50)
    table = newest(committed(log))
    ends = []
    for moment in range(100, 110):
        done = cleaning.run(log, now_ms=moment)
        if done is None:
            break
        ends.append(done.clean_until_offset)
        assert newest(committed(log)) == table
    assert len(ends) > 2
    assert ends == sorted(set(ends))
    assert ends[-1] == 160


def test_data_that_is_not_yet_decided_is_not_touched(disk: SimDisk) -> None:
    log = open_log(disk)
    writer = Writer(log)
    writer.put(("k", "1"))
    writer.put(("k", "2"))
    writer.put(("k", "open"), producer=3, transactional=True)
    writer.put(("k", "3"))
    log.roll(now_ms=100)
    Cleaning(disk).run(log, now_ms=100)
    values = [r.value for _, records in batches(log) for r in records]
    assert values == [b"2", b"open", b"3"]


@pytest.mark.parametrize("position", [80, 120, 145])  # its base offset, its header, its records
def test_a_broken_batch_stops_the_cleaning_and_names_the_place(
    disk: SimDisk, position: int
) -> None:
    log = open_log(disk)
    writer = Writer(log)
    for n in range(10):
        writer.put((f"k{n}", "value"))
    log.roll(now_ms=100)
    log.flush(now_ms=100)
    disk.flip_bit(log.segments[0].path, position=position, bit=3)
    before = [segment.path for segment in log.segments]
    with pytest.raises(CorruptBatchError) as caught:
        Cleaning(disk).run(log, now_ms=100)
    assert (caught.value.path, caught.value.position) == (before[0], 75)
    assert [segment.path for segment in log.segments] == before


def test_a_group_whose_segments_are_gone_is_not_committed(disk: SimDisk) -> None:
    log = open_log(disk)
    writer = Writer(log)
    for n in range(40):
        writer.put((f"k{n % 4}", f"{n}"))
    log.roll(now_ms=100)
    log.flush(now_ms=100)
    cleaning = Cleaning(disk)
    assignment = cleaning.schedule.next_assignment([CompactedLog(STOCK, LOG_DIR, log)], now_ms=100)
    assert assignment is not None
    log.truncate_to(3, now_ms=100)
    assert not log.replace_segments(assignment.job.segments[:2] and [0, 8], now_ms=100)


KEYS = st.sampled_from(["a", "b", "c", "d"])
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, st.one_of(st.none(), st.integers(0, 9))),
        st.tuples(st.just("transact"), st.integers(1, 3), KEYS),
        st.tuples(st.just("end"), st.integers(1, 3), st.booleans()),
        st.tuples(st.just("roll"), st.none(), st.none()),
        st.tuples(st.just("clean"), st.none(), st.none()),
    ),
    max_size=60,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(operations=OPERATIONS, map_slots=st.integers(3, 40), retention_ms=st.integers(0, 2000))
def test_no_cleaning_changes_the_table_that_a_reader_builds(
    operations: list[tuple[str, object, object]], map_slots: int, retention_ms: int
) -> None:
    disk = SimDisk(1)
    log = open_log(disk, replace(SETTINGS, delete_retention_ms=retention_ms))
    writer = Writer(log)
    cleaning = Cleaning(disk, map_bytes=24 * map_slots)
    opened: set[int] = set()
    for number, (verb, first, second) in enumerate(operations):
        if verb == "put":
            writer.put((str(first), None if second is None else f"{second}/{number}"))
        elif verb == "transact":
            assert isinstance(first, int)
            writer.put((str(second), f"tx{number}"), producer=first, transactional=True)
            opened.add(first)
        elif verb == "end" and first in opened:
            assert isinstance(first, int)
            writer.end(first, commit=bool(second))
            opened.discard(first)
        elif verb == "roll":
            writer.now_ms += 500
            log.roll(now_ms=writer.now_ms)
        elif verb == "clean":
            table, end = newest(committed(log)), log.log_end_offset
            cleaning.run(log, now_ms=writer.now_ms)
            assert newest(committed(log)) == table
            assert log.log_end_offset == end
            log.check()
    table, stable = newest(committed(log)), log.last_stable_offset
    log.close(now_ms=writer.now_ms)
    again = open_log(disk)
    again.update_high_watermark(again.log_end_offset)
    assert newest(committed(again)) == table
    assert again.last_stable_offset == stable


def test_an_abort_above_the_cleaned_range_keeps_its_index_entry(disk: SimDisk) -> None:
    log = open_log(disk)
    writer = Writer(log)
    writer.put(("a", "old"))
    writer.put(("a", "new"))
    writer.put(("b", "undecided"), producer=1, transactional=True)
    writer.put(("a", "aborted"), producer=2, transactional=True)
    writer.end(2, commit=False)
    log.roll(now_ms=100)
    done = Cleaning(disk).run(log, now_ms=100)
    assert done is not None
    assert done.clean_until_offset == 2
    assert done.records_after < done.records_before
    assert [(one.producer_id, one.last_offset) for one in log.segments[0].transaction_index] == [
        (2, 4)
    ]


def test_what_a_given_up_cleaning_left_is_taken_away_by_the_next(disk: SimDisk) -> None:
    log = open_log(disk)
    writer = Writer(log)
    writer.put(("a", "1"))
    writer.put(("a", "2"))
    log.roll(now_ms=100)
    leftover = f"{DIRECTORY}/{777:020d}.log.cleaned"
    disk.open(leftover, create=True).write(0, [b"half a segment"])
    Cleaning(disk).run(log, now_ms=100)
    assert not disk.exists(leftover)
