from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import ErrorCode
from quire.records.batch import BatchHeader
from quire.runtime.disk import RealDisk
from quire.sim.disk import SimDisk
from quire.storage.producer_snapshot import snapshot_offsets, write_snapshot
from quire.storage.producer_state import (
    ACCEPT,
    SEQUENCE_MAX,
    Accept,
    CompletedTransaction,
    Duplicate,
    ProducerStates,
    Reject,
    Verdict,
    Verification,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "data-clean" / "g-txn-0"
DAY_MS = 86_400_000
TRANSACTIONAL = 0x10
CONTROL = 0x20


def _batch(
    offset: int,
    sequence: int,
    count: int = 1,
    *,
    producer_id: int = 1,
    epoch: int = 0,
    transactional: bool = False,
    timestamp: int = 1000,
) -> BatchHeader:
    return BatchHeader(
        base_offset=offset,
        batch_length=49,
        partition_leader_epoch=0,
        magic=2,
        crc=0,
        attributes=TRANSACTIONAL if transactional else 0,
        last_offset_delta=count - 1,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        record_count=count,
    )


def _end(
    states: ProducerStates,
    *,
    producer_id: int = 1,
    epoch: int = 0,
    commit: bool = True,
    coordinator_epoch: int = 0,
) -> CompletedTransaction | None:
    offset = states.end_offset
    header = _batch(offset, -1, producer_id=producer_id, epoch=epoch)
    header = header._replace(attributes=TRANSACTIONAL | CONTROL)
    return states.apply_marker(
        header, coordinator_epoch=coordinator_epoch, is_commit=commit, offset=offset
    )


def _states(*headers: BatchHeader) -> ProducerStates:
    disk = SimDisk()
    disk.make_directory("/t-0")
    states = ProducerStates(disk, "/t-0")
    for header in headers:
        states.apply(header)
    return states


def _code(verdict: Verdict) -> ErrorCode | None:
    return verdict.code if isinstance(verdict, Reject) else None


def test_a_batch_without_a_producer_is_accepted_and_leaves_no_trace() -> None:
    states = _states()
    plain = _batch(0, -1, 3, producer_id=-1, epoch=-1)
    assert states.check(plain, from_client=True) is ACCEPT
    states.apply(plain)
    assert len(states) == 0
    assert states.end_offset == 3


def test_sequences_must_follow_each_other() -> None:
    states = _states(_batch(0, 0, 5))
    assert isinstance(states.check(_batch(0, 5, 2), from_client=True), Accept)
    for sequence in (4, 6, 1):
        verdict = states.check(_batch(0, sequence, 2), from_client=True)
        assert _code(verdict) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_the_last_five_batches_are_known_as_duplicates() -> None:
    states = _states(*(_batch(10 * n, 2 * n, 2, timestamp=n) for n in range(7)))
    for n in (2, 6):
        verdict = states.check(_batch(0, 2 * n, 2), from_client=True)
        assert verdict == Duplicate(10 * n, 10 * n + 1, n)
    for n in (0, 1):
        verdict = states.check(_batch(0, 2 * n, 2), from_client=True)
        assert _code(verdict) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_duplicate_must_match_in_both_ends_and_the_epoch() -> None:
    states = _states(_batch(0, 0, 5), _batch(5, 5, 5))
    for header in (_batch(0, 5, 4), _batch(0, 6, 4), _batch(0, 5, 5, epoch=1)):
        verdict = states.check(header, from_client=True)
        assert _code(verdict) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_after_the_largest_sequence_comes_zero() -> None:
    states = _states(_batch(0, SEQUENCE_MAX - 1, 2))
    assert states.check(_batch(2, 0, 1), from_client=True) is ACCEPT
    states = _states(_batch(0, SEQUENCE_MAX - 1, 4))
    assert states.check(_batch(4, 2, 1), from_client=True) is ACCEPT
    assert isinstance(states.check(_batch(0, SEQUENCE_MAX - 1, 4), from_client=True), Duplicate)


def test_an_older_epoch_is_fenced_and_a_newer_one_starts_at_zero() -> None:
    states = _states(_batch(0, 0, 5, epoch=3))
    old = states.check(_batch(0, 5, epoch=2), from_client=True)
    assert _code(old) is ErrorCode.INVALID_PRODUCER_EPOCH
    new = states.check(_batch(0, 5, epoch=4), from_client=True)
    assert _code(new) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert states.check(_batch(0, 0, epoch=4), from_client=True) is ACCEPT
    states.apply(_batch(5, 0, epoch=4))
    fenced = states.check(_batch(0, 0, 5, epoch=3), from_client=True)
    assert _code(fenced) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_an_unknown_producer_may_start_anywhere_unless_it_bumps_its_epoch() -> None:
    states = _states()
    assert states.check(_batch(0, 7), from_client=True) is ACCEPT
    verdict = states.check(_batch(0, 7), from_client=True, requires_sequence_zero=True)
    assert _code(verdict) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    verdict = states.check(_batch(0, 0), from_client=True, requires_sequence_zero=True)
    assert verdict is ACCEPT


def test_what_a_leader_has_accepted_is_accepted_again() -> None:
    states = _states(_batch(0, 0, 5, epoch=3))
    for header in (_batch(5, 99, epoch=3), _batch(5, 0, epoch=1), _batch(5, 0, 5, epoch=3)):
        assert states.check(header, from_client=False) is ACCEPT


def test_plain_data_inside_an_open_transaction_is_refused() -> None:
    states = _states(_batch(0, 0, transactional=True))
    verdict = states.check(_batch(1, 1), from_client=True)
    assert _code(verdict) is ErrorCode.INVALID_TXN_STATE
    assert states.check(_batch(1, 1, transactional=True), from_client=True) is ACCEPT


def test_the_offset_of_an_append_wins_over_that_of_the_request() -> None:
    states = _states()
    states.apply(_batch(0, 0, 3, transactional=True), base_offset=40, timestamp=77)
    assert states.end_offset == 43
    assert states.first_undecided_offset == 40
    assert states.check(_batch(0, 0, 3), from_client=True) == Duplicate(40, 42, 77)


def test_a_transaction_opens_with_its_first_batch_and_ends_with_its_marker() -> None:
    states = _states(_batch(4, 0, 2, transactional=True))
    states.apply(_batch(6, 2, 1, transactional=True))
    assert states.first_undecided_offset == 4
    assert _end(states, commit=False) == CompletedTransaction(1, 4, 7, True, 8)
    assert states.first_undecided_offset is None
    assert _end(states) is None


def test_a_transaction_holds_the_stable_offset_until_its_marker_is_replicated() -> None:
    states = _states(_batch(4, 0, 2, transactional=True))
    _end(states)
    assert states.first_unstable_offset == 4
    states.on_high_watermark(6)
    assert states.first_unstable_offset == 4
    states.on_high_watermark(7)
    assert states.first_unstable_offset is None


def test_the_earliest_of_all_transactions_holds_the_stable_offset() -> None:
    states = _states(
        _batch(0, 0, transactional=True),
        _batch(1, 0, producer_id=2, transactional=True),
        _batch(2, 0, producer_id=3, transactional=True),
    )
    first = _end(states, producer_id=2)
    assert first is not None
    assert first.last_stable_offset == 0
    assert states.first_unstable_offset == 0
    second = _end(states, producer_id=1)
    assert second is not None
    assert second.last_stable_offset == 2
    assert states.first_undecided_offset == 2
    assert states.first_unstable_offset == 0
    states.on_high_watermark(5)
    assert states.first_unstable_offset == 2


def test_a_marker_of_a_bumped_epoch_forgets_the_batches() -> None:
    states = _states(_batch(0, 0, 3, transactional=True))
    _end(states, epoch=1)
    assert states.check(_batch(0, 0, epoch=1), from_client=True) is ACCEPT
    verdict = states.check(_batch(0, 3, epoch=1), from_client=True)
    assert _code(verdict) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    old = states.check(_batch(0, 0, 3, epoch=0), from_client=True)
    assert _code(old) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_marker_of_the_same_epoch_keeps_the_batches() -> None:
    states = _states(_batch(0, 0, 3, transactional=True))
    _end(states)
    assert states.check(_batch(0, 3, transactional=True), from_client=True) is ACCEPT


@pytest.mark.parametrize(
    ("transaction_version", "epoch", "is_open", "expected"),
    [
        (1, 5, True, None),
        (1, 6, True, None),
        (1, 4, True, ErrorCode.INVALID_PRODUCER_EPOCH),
        (2, 5, True, ErrorCode.INVALID_PRODUCER_EPOCH),
        (2, 6, True, None),
        (2, 5, False, None),
        (2, 4, False, ErrorCode.INVALID_PRODUCER_EPOCH),
    ],
)
def test_a_marker_needs_the_epoch_that_its_version_asks_for(
    transaction_version: int, epoch: int, is_open: bool, expected: ErrorCode | None
) -> None:
    states = _states(_batch(0, 0, epoch=5, transactional=True))
    if not is_open:
        _end(states, epoch=5)
    verdict = states.check_marker(1, epoch, 0, transaction_version=transaction_version)
    assert _code(verdict) is expected


def test_the_last_epoch_of_all_may_end_its_own_transaction() -> None:
    states = _states(_batch(0, 0, epoch=32767, transactional=True))
    assert states.check_marker(1, 32767, 0, transaction_version=2) is ACCEPT


def test_a_marker_of_a_replaced_coordinator_is_fenced() -> None:
    states = _states(_batch(0, 0, transactional=True))
    _end(states, coordinator_epoch=7)
    verdict = states.check_marker(1, 0, 6, transaction_version=1)
    assert _code(verdict) is ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert states.check_marker(1, 0, 7, transaction_version=1) is ACCEPT
    assert states.check_marker(9, 0, 0, transaction_version=2) is ACCEPT


def test_silent_producers_expire_and_open_transactions_do_not() -> None:
    states = _states(
        _batch(0, 0, producer_id=1, timestamp=0),
        _batch(1, 0, producer_id=2, timestamp=0, transactional=True),
        _batch(2, 0, producer_id=3, timestamp=5),
    )
    assert states.remove_expired(DAY_MS + 4) == 1
    assert [producer.producer_id for producer in states] == [2, 3]
    assert list(states.last_records()) == [(2, 1, 0), (3, 2, 0)]


def test_a_raised_log_start_forgets_what_was_decided_below() -> None:
    states = _states(_batch(4, 0, 2, transactional=True))
    _end(states)
    states.on_log_start_offset(7)
    assert states.first_unstable_offset is None
    states.on_log_start_offset(20)
    assert states.end_offset == 20


def test_nothing_is_written_at_offset_zero_and_nothing_twice() -> None:
    states = _states()
    assert states.take_snapshot() is None
    states.apply(_batch(0, 0))
    assert states.take_snapshot(flush=True) == 1
    assert states.take_snapshot() is None
    assert states.take_snapshot(5) == 5
    with pytest.raises(AssertionError):
        states.take_snapshot(4)


def test_a_snapshot_brings_the_last_batch_and_the_open_transaction_back() -> None:
    disk = SimDisk()
    disk.make_directory("/t-0")
    states = ProducerStates(disk, "/t-0")
    for n in range(7):
        states.apply(_batch(2 * n, 2 * n, 2, transactional=True))
    states.apply(_batch(14, SEQUENCE_MAX, 3, producer_id=2))
    states.take_snapshot()
    loaded = ProducerStates(disk, "/t-0")
    reload = loaded.truncate_and_reload(log_start_offset=0, log_end_offset=17, now_ms=2000)
    assert reload == (17, ())
    assert loaded.first_undecided_offset == 0
    assert loaded.check(_batch(0, 14, 1, transactional=True), from_client=True) is ACCEPT
    assert isinstance(loaded.check(_batch(0, 12, 2), from_client=True), Duplicate)
    assert loaded.check(_batch(0, SEQUENCE_MAX, 3, producer_id=2), from_client=True) == Duplicate(
        14, 16, 1000
    )
    completed = _end(loaded)
    assert completed is not None
    assert completed.first_offset == 0


def test_expired_producers_are_dropped_on_load() -> None:
    disk = SimDisk()
    disk.make_directory("/t-0")
    states = ProducerStates(disk, "/t-0", expiration_ms=100)
    states.apply(_batch(0, 0, timestamp=1000))
    states.take_snapshot()
    states.truncate_and_reload(log_start_offset=0, log_end_offset=1, now_ms=1099)
    assert len(states) == 1
    states.truncate_and_reload(log_start_offset=0, log_end_offset=1, now_ms=1100)
    assert len(states) == 0
    assert states.end_offset == 1


def test_a_reload_takes_the_newest_good_snapshot_below_the_end() -> None:
    disk = SimDisk()
    disk.make_directory("/t-0")
    states = ProducerStates(disk, "/t-0")
    for n in range(4):
        states.apply(_batch(n, n))
        states.take_snapshot()
    disk.flip_bit("/t-0/00000000000000000003.snapshot", position=9, bit=0)
    reload = states.truncate_and_reload(log_start_offset=0, log_end_offset=3, now_ms=2000)
    assert reload.end_offset == states.end_offset == 2
    (error,) = reload.discarded
    assert "00000000000000000003.snapshot: the checksum is wrong" in str(error)
    assert snapshot_offsets(disk, "/t-0") == [1, 2]
    assert states.check(_batch(2, 2), from_client=True) is ACCEPT
    for offset in (1, 2):
        disk.remove(f"/t-0/0000000000000000000{offset}.snapshot")
    reload = states.truncate_and_reload(log_start_offset=1, log_end_offset=3, now_ms=2000)
    assert reload == (1, ())
    assert len(states) == 0


def test_apache_kafkas_snapshot_is_taken_over_and_written_again_byte_by_byte() -> None:
    loaded = ProducerStates(RealDisk(), str(GOLDEN), expiration_ms=2**62)
    reload = loaded.truncate_and_reload(
        log_start_offset=0, log_end_offset=24, now_ms=1_795_100_000_000
    )
    assert reload == (24, ())
    disk = SimDisk()
    disk.make_directory("/t-0")
    write_snapshot(disk, "/t-0", 24, [producer.entry() for producer in loaded], flush=True)
    golden = (GOLDEN / "00000000000000000024.snapshot").read_bytes()
    assert disk.open("/t-0/00000000000000000024.snapshot").read(0, 1000) == golden
    assert loaded.check(_batch(24, 6, epoch=1), from_client=True) is ACCEPT
    assert loaded.check(_batch(24, 0, producer_id=5, epoch=2), from_client=True) is ACCEPT


@dataclass
class Model:
    """The whole history, and the rules read naively off it."""

    history: list[BatchHeader | tuple[int, int, int]] = field(default_factory=list)

    def verdict(self, header: BatchHeader) -> str:
        written: list[BatchHeader] = []
        epoch = -1
        opened = False
        for event in self.history:
            producer_id = event[0] if isinstance(event, tuple) and len(event) == 3 else None
            if isinstance(event, BatchHeader):
                if event.producer_id != header.producer_id:
                    continue
                if event.producer_epoch != epoch:
                    written = []
                epoch = event.producer_epoch
                written.append(event)
                opened = opened or event.is_transactional
            elif producer_id == header.producer_id:
                if event[1] != epoch:
                    written = []
                epoch = event[1]
                opened = False
        if epoch == -1:
            return "accept"
        if header.producer_epoch == epoch:
            for event in written[-5:]:
                same = event.base_sequence == header.base_sequence
                if same and event.record_count == header.record_count:
                    return f"duplicate {event.base_offset}"
        if header.producer_epoch < epoch:
            return "INVALID_PRODUCER_EPOCH"
        due = 0
        if header.producer_epoch == epoch and written:
            due = (written[-1].base_sequence + written[-1].record_count) % 2**31
        if header.base_sequence != due:
            return "OUT_OF_ORDER_SEQUENCE_NUMBER"
        return "INVALID_TXN_STATE" if opened and not header.is_transactional else "accept"


steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("write"),
            st.integers(1, 2),
            st.integers(0, 1),
            st.sampled_from(["next", "next", "again", 0, 1, SEQUENCE_MAX - 1]),
            st.booleans(),
        ),
        st.tuples(st.just("end"), st.integers(1, 2), st.integers(0, 1), st.just(0), st.booleans()),
    ),
    max_size=40,
)


@given(steps=steps)
def test_every_verdict_is_the_one_read_off_the_whole_history(
    steps: list[tuple[str, int, int, int | str, bool]],
) -> None:
    states, model = _states(), Model()
    for name, producer_id, bump, wanted, flag in steps:
        producer = states.get(producer_id)
        epoch = bump if producer is None else producer.epoch + (bump and not len(producer.batches))
        if name == "end":
            _end(states, producer_id=producer_id, epoch=epoch, commit=flag)
            model.history.append((producer_id, epoch, states.end_offset))
            continue
        last = producer.batches[-1] if producer and producer.batches else None
        if last is None or isinstance(wanted, int):
            sequence = wanted if isinstance(wanted, int) else 0
        else:
            sequence = (last.last_sequence + 1) % 2**31 if wanted == "next" else last.first_sequence
        header = _batch(
            states.end_offset,
            sequence,
            1 + (producer_id + sequence) % 3,
            producer_id=producer_id,
            epoch=epoch,
            transactional=flag,
        )
        verdict = states.check(header, from_client=True)
        if isinstance(verdict, Accept):
            said = "accept"
            states.apply(header)
        elif isinstance(verdict, Duplicate):
            said = f"duplicate {verdict.base_offset}"
        else:
            said = verdict.code.name
        assert said == model.verdict(header)
        if said == "accept":
            model.history.append(header)
        _check_invariants(states)


def _check_invariants(states: ProducerStates) -> None:
    opened = [producer for producer in states if producer.transaction_first_offset >= 0]
    firsts = [producer.transaction_first_offset for producer in opened]
    assert states.first_undecided_offset == min(firsts, default=None)
    for producer in states:
        assert len(producer.batches) <= 5
        offsets = [batch.last_offset for batch in producer.batches]
        assert offsets == sorted(set(offsets))


@given(
    writes=st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3), st.booleans()), max_size=25),
    cut=st.integers(0, 25),
)
def test_a_snapshot_and_the_rest_of_the_log_give_the_state_again(
    writes: list[tuple[int, int, bool]], cut: int
) -> None:
    disk = SimDisk()
    disk.make_directory("/t-0")
    states = ProducerStates(disk, "/t-0")
    log: list[BatchHeader] = []
    for index, (producer_id, count, is_end) in enumerate(writes):
        producer = states.get(producer_id)
        if is_end:
            log.append(_batch(states.end_offset, -1, producer_id=producer_id))
            _end(states, producer_id=producer_id)
        else:
            sequence = producer.last_sequence + 1 if producer else 0
            header = _batch(
                states.end_offset, sequence, count, producer_id=producer_id, transactional=True
            )
            log.append(header)
            states.apply(header)
        if index == cut:
            states.take_snapshot()
    loaded = ProducerStates(disk, "/t-0")
    reload = loaded.truncate_and_reload(
        log_start_offset=0, log_end_offset=states.end_offset, now_ms=2000
    )
    for header in log:
        if header.base_offset >= reload.end_offset:
            if header.base_sequence < 0:
                _end(loaded, producer_id=header.producer_id)
            else:
                loaded.apply(header)
    assert loaded.end_offset == states.end_offset
    assert [producer.entry() for producer in loaded] == [producer.entry() for producer in states]
    assert loaded.first_undecided_offset == states.first_undecided_offset


def test_what_is_being_verified_counts_until_its_transaction_begins_or_a_marker_comes() -> None:
    begins, ends, other = (Verification(0, 0, 1000) for _ in range(3))
    states = _states()
    states.verifying = {1: begins, 2: ends, 3: other}
    states.apply(_batch(0, 0, producer_id=1))
    assert states.verifying[1] is begins, "outside of a transaction"
    states.apply(_batch(1, 1, producer_id=1, transactional=True))
    _end(states, producer_id=2, commit=False)
    assert states.verifying == {3: other}


def test_what_is_being_verified_is_forgotten_in_time_and_with_the_log() -> None:
    states = _states()
    states.verifying = {1: Verification(0, 0, 0), 2: Verification(0, 0, 1)}
    states.remove_expired(DAY_MS)
    assert list(states.verifying) == [2]
    states.clear(0)
    assert states.verifying == {}
