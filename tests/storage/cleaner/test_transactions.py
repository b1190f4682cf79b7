from __future__ import annotations

from quire.records.batch import BatchHeader, encode_pairs, read_header
from quire.records.control import ControlType, encode_end_transaction_marker
from quire.storage.cleaner.transactions import CleanedTransactions
from quire.storage.transaction_index import AbortedTransaction


def data(producer: int, base_offset: int, *, transactional: bool = True) -> BatchHeader:
    batch = encode_pairs(
        [(b"k", b"v")], 0, base_offset=base_offset, producer_id=producer, producer_epoch=0,
        base_sequence=0, is_transactional=transactional,
    )  # fmt: skip
    return read_header(batch)


def marker(producer: int, base_offset: int, kind: ControlType) -> BatchHeader:
    return read_header(
        encode_end_transaction_marker(
            kind,
            coordinator_epoch=0,
            producer_id=producer,
            producer_epoch=0,
            timestamp=0,
            base_offset=base_offset,
        )
    )


ABORT, COMMIT = ControlType.ABORT, ControlType.COMMIT


def test_data_of_an_aborted_transaction_goes_and_its_entry_stays_for_readers() -> None:
    aborted = AbortedTransaction(1, 5, 8, 9)
    seen = CleanedTransactions()
    seen.add_aborted([aborted])
    assert not seen.is_aborted_data(data(2, 4))
    assert seen.is_aborted_data(data(1, 5))
    assert not seen.is_aborted_data(data(2, 6))
    assert seen.on_marker(marker(1, 8, ABORT), ABORT) == (False, aborted)


def test_the_same_producer_commits_before_and_after_an_abort() -> None:
    seen = CleanedTransactions()
    seen.add_aborted([AbortedTransaction(1, 5, 8, 9)])
    assert not seen.is_aborted_data(data(1, 0))
    assert seen.on_marker(marker(1, 2, COMMIT), COMMIT) == (False, None)
    assert seen.is_aborted_data(data(1, 6))
    seen.on_marker(marker(1, 8, ABORT), ABORT)
    assert not seen.is_aborted_data(data(1, 9))


def test_a_marker_is_empty_when_no_data_of_its_transaction_was_met() -> None:
    seen = CleanedTransactions()
    assert seen.on_marker(marker(1, 3, COMMIT), COMMIT) == (True, None)
    assert seen.on_marker(marker(2, 4, ABORT), ABORT) == (True, None)
    seen.is_aborted_data(data(1, 5))
    assert seen.on_marker(marker(1, 6, COMMIT), COMMIT) == (False, None)
    assert seen.on_marker(marker(1, 7, COMMIT), COMMIT) == (True, None)


def test_an_abort_without_an_index_entry_keeps_its_marker_while_there_is_data() -> None:
    seen = CleanedTransactions()
    assert not seen.is_aborted_data(data(1, 5))
    assert seen.on_marker(marker(1, 8, ABORT), ABORT) == (False, None)


def test_data_outside_transactions_is_never_discarded() -> None:
    seen = CleanedTransactions()
    seen.add_aborted([AbortedTransaction(1, 0, 8, 9)])
    assert not seen.is_aborted_data(data(1, 3, transactional=False))


def test_a_transaction_that_is_told_twice_counts_once() -> None:
    seen = CleanedTransactions()
    for _ in range(2):
        seen.add_aborted([AbortedTransaction(1, 5, 8, 9)])
    assert seen.is_aborted_data(data(1, 5))
    seen.on_marker(marker(1, 8, ABORT), ABORT)
    assert not seen.is_aborted_data(data(1, 9))
