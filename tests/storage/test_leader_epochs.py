from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import CorruptFileError
from quire.runtime.disk import RealDisk
from quire.sim.disk import SimDisk, SimulatedCrash
from quire.storage.leader_epochs import EpochEnd, EpochStart, LeaderEpochs
from quire.storage.small_files import replace_file

GOLDEN = Path(__file__).parents[1] / "golden"

assignments = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 50)), max_size=12)


def _epochs(*entries: tuple[int, int]) -> LeaderEpochs:
    return LeaderEpochs(SimDisk(), "/f", [EpochStart(*entry) for entry in entries])


def test_a_new_epoch_is_appended_and_the_same_one_is_no_news() -> None:
    epochs = _epochs()
    assert epochs.latest is None
    assert epochs.latest_epoch == -1
    assert epochs.assign(0, 0)
    assert epochs.assign(2, 17)
    assert not epochs.assign(2, 17)
    assert not epochs.assign(2, 20)
    assert epochs.entries == ((0, 0), (2, 17))
    assert epochs.latest == EpochStart(2, 17)
    assert epochs.latest_epoch == 2


def test_entries_that_contradict_a_new_one_are_dropped() -> None:
    epochs = _epochs((0, 0), (2, 17), (4, 30))
    epochs.assign(3, 20)
    assert epochs.entries == ((0, 0), (2, 17), (3, 20))
    epochs.assign(5, 17)
    assert epochs.entries == ((0, 0), (5, 17))
    epochs.assign(5, 10)
    assert epochs.entries == ((0, 0), (5, 10))


def test_an_epoch_below_zero_is_a_mistake_of_the_caller() -> None:
    for epoch, start_offset in ((-1, 0), (0, -1)):
        with pytest.raises(ValueError):
            _epochs().assign(epoch, start_offset)


@given(steps=assignments)
def test_epochs_and_offsets_rise_and_the_latest_assignment_holds(
    steps: list[tuple[int, int]],
) -> None:
    epochs = _epochs()
    for epoch, start_offset in steps:
        epochs.assign(epoch, start_offset)
        assert epochs.latest_epoch == epoch
        assert epochs.epoch_for(max(start_offset, epochs.entries[-1].start_offset)) == epoch
        for before, after in zip(epochs.entries, epochs.entries[1:], strict=False):
            assert before.epoch < after.epoch
            assert before.start_offset < after.start_offset


def test_the_end_of_an_epoch_is_where_the_next_begins() -> None:
    epochs = _epochs((1, 10), (3, 20), (4, 25))
    ends = {epoch: epochs.end_offset_for(epoch, 40) for epoch in range(-1, 6)}
    assert ends == {
        -1: EpochEnd(-1, -1),
        0: EpochEnd(0, 10),
        1: EpochEnd(1, 20),
        2: EpochEnd(1, 20),
        3: EpochEnd(3, 25),
        4: EpochEnd(4, 40),
        5: EpochEnd(-1, -1),
    }
    assert _epochs().end_offset_for(0, 40) == EpochEnd(-1, -1)


@given(steps=assignments, offset=st.integers(0, 60))
def test_the_epoch_of_an_offset_is_the_last_that_begins_at_or_before_it(
    steps: list[tuple[int, int]], offset: int
) -> None:
    epochs = _epochs(*steps)
    expected = [entry.epoch for entry in epochs.entries if entry.start_offset <= offset]
    assert epochs.epoch_for(offset) == (expected[-1] if expected else -1)


@given(steps=assignments, cut=st.integers(0, 60))
def test_truncation_at_the_end_keeps_the_answers_below(
    steps: list[tuple[int, int]], cut: int
) -> None:
    epochs = _epochs(*steps)
    before = [epochs.epoch_for(offset) for offset in range(cut)]
    epochs.truncate_from_end(cut)
    assert [epochs.epoch_for(offset) for offset in range(cut)] == before
    assert all(entry.start_offset < cut for entry in epochs.entries)
    assert epochs.latest_epoch == (epochs.entries[-1].epoch if epochs.entries else -1)


@given(steps=assignments, cut=st.integers(0, 60))
def test_truncation_at_the_start_keeps_the_answers_above(
    steps: list[tuple[int, int]], cut: int
) -> None:
    epochs = _epochs(*steps)
    before = [epochs.epoch_for(offset) for offset in range(cut, 70)]
    epochs.truncate_from_start(cut)
    assert [epochs.epoch_for(offset) for offset in range(cut, 70)] == before
    assert all(entry.start_offset >= cut for entry in epochs.entries)


def test_an_epoch_that_begins_where_the_log_begins_now_is_the_first_one() -> None:
    epochs = _epochs((0, 0), (1, 5), (2, 9))
    epochs.truncate_from_start(5)
    assert epochs.entries == ((1, 5), (2, 9))
    epochs.save()
    epochs.truncate_from_start(5)
    assert not epochs.is_dirty


def test_what_was_saved_is_loaded() -> None:
    disk = SimDisk()
    epochs = LeaderEpochs(disk, "/f")
    assert not epochs.is_dirty
    epochs.assign(0, 0)
    epochs.assign(2, 17)
    assert epochs.is_dirty
    epochs.save()
    assert not epochs.is_dirty
    assert disk.open("/f").read(0, 100) == b"0\n2\n0 0\n2 17\n"
    loaded = LeaderEpochs.load(disk.crash(), "/f")
    assert loaded.entries == epochs.entries
    assert not loaded.is_dirty
    operations = disk.operations
    epochs.save()
    assert disk.operations == operations


def test_a_save_that_fails_stays_to_be_done() -> None:
    disk = SimDisk(capacity_bytes=10)
    epochs = LeaderEpochs(disk, "/f", [EpochStart(0, 0)])
    epochs.save()
    epochs.assign(1, 1000)
    with pytest.raises(OSError, match="no space"):
        epochs.save()
    assert epochs.is_dirty
    assert LeaderEpochs.load(disk, "/f").entries == ((0, 0),)
    disk.faults.capacity_bytes = None
    epochs.save()
    assert LeaderEpochs.load(disk, "/f").entries == epochs.entries


def test_a_crash_during_a_save_leaves_the_old_history_or_the_new_one() -> None:
    for seed in range(10):
        for operations in range(7):
            disk = SimDisk(seed)
            epochs = LeaderEpochs(disk, "/f", [EpochStart(0, 0)])
            epochs.save()
            epochs.assign(1, 5)
            disk.faults.fail_after(operations=operations)
            with contextlib.suppress(SimulatedCrash):
                epochs.save()
            found = LeaderEpochs.load(disk.crash(), "/f").entries
            assert found in {((0, 0),), ((0, 0), (1, 5))}


def test_clearing_forgets_and_is_saved() -> None:
    epochs = _epochs((1, 1))
    epochs.clear()
    assert epochs.entries == ()
    assert epochs.latest_epoch == -1
    assert epochs.is_dirty


def test_a_missing_file_is_an_empty_history() -> None:
    assert LeaderEpochs.load(SimDisk(), "/f").entries == ()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"0\n2\n1 5\n1 6\n", "line 4: does not come after the one before"),
        (b"0\n2\n1 5\n2 5\n", "line 4: does not come after the one before"),
        (b"0\n1\n1\n", "line 3: 1 fields, not 2"),
        (b"0\n1\nx 1\n", "line 3: 'x' is not a whole number"),
    ],
)
def test_a_broken_file_is_named_with_its_line(content: bytes, complaint: str) -> None:
    disk = SimDisk()
    replace_file(disk, "/f", content)
    with pytest.raises(CorruptFileError) as caught:
        LeaderEpochs.load(disk, "/f")
    assert complaint in str(caught.value)


def test_the_files_of_apache_kafka_are_read() -> None:
    path = GOLDEN / "g-compact-tombstone" / "leader-epoch-checkpoint"
    assert LeaderEpochs.load(RealDisk(), str(path)).entries == ((0, 0), (2, 17))
