"""May this EndTxn end this transaction? Two answers: for clients that bump their epoch with every transaction, and not.

    in state          commit                        abort
    Ongoing           yes                           yes
    Prepare*          CONCURRENT_TRANSACTIONS: the last end is on its way
    CompleteCommit    repeat: NONE                  repeat: INVALID_TXN_STATE, new: yes (v2)
    CompleteAbort     INVALID_TXN_STATE             repeat: NONE, new: yes (v2)
    Empty             INVALID_TXN_STATE             yes (v2), INVALID_TXN_STATE

In version 2 a repeat is known by its epoch, which is the one before; "new" is an abort of a transaction to which
nothing was ever added. Its producer need not wait for the end before: while that is on its way nobody is judged.

Invariants
  I1  But for that, with an epoch that is neither the transaction's nor that of a repeat the answer is PRODUCER_FENCED.
See        KIP-890
"""

from __future__ import annotations

from quire.errors import ErrorCode
from quire.transactions.commands import End
from quire.transactions.states import State
from quire.transactions.transaction import EPOCH_BUMP_VERSION, LAST_EPOCH, Transaction


def judge(one: Transaction, request: End) -> ErrorCode | None:
    """None: it may. NONE: it has, before."""
    if request.client_version >= EPOCH_BUMP_VERSION:
        return _with_bump(one, request)
    return _without_bump(one, request)


def _without_bump(one: Transaction, request: End) -> ErrorCode | None:
    if one.producer_id != request.producer.producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if one.epoch != request.producer.epoch:
        return ErrorCode.PRODUCER_FENCED
    if one.state is State.ONGOING:
        return None
    if one.state.is_prepared:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    if one.state is (State.COMPLETE_COMMIT if request.committed else State.COMPLETE_ABORT):
        return ErrorCode.NONE
    return ErrorCode.INVALID_TXN_STATE


def _with_bump(one: Transaction, request: End) -> ErrorCode | None:
    if one.state.is_prepared:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    producer_id, epoch = request.producer
    after_overflow = (
        one.previous_producer_id == producer_id and epoch == LAST_EPOCH and one.epoch == 0
    )
    is_repeat = after_overflow or one.epoch == epoch + 1
    if one.producer_id != producer_id and not after_overflow:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if not _is_its_epoch(one, epoch, is_repeat=is_repeat):
        return ErrorCode.PRODUCER_FENCED
    if one.state is State.ONGOING:
        return None
    if is_repeat:
        done = State.COMPLETE_COMMIT if request.committed else State.COMPLETE_ABORT
        return ErrorCode.NONE if one.state is done else ErrorCode.INVALID_TXN_STATE
    return ErrorCode.INVALID_TXN_STATE if request.committed else None


def _is_its_epoch(one: Transaction, epoch: int, *, is_repeat: bool) -> bool:
    """I1."""
    if one.state.is_complete:
        return is_repeat or one.epoch == epoch
    return one.epoch == epoch
