"""Which transactions a cleaning has seen, so that aborted data goes and no marker goes before its data.

Fed with every batch of the range in offset order. Aborted transactions come from the log's transaction indexes.

Invariants
  I1  Data of a transaction known to be aborted may be discarded; data of any other transaction may not.
  I2  A marker is empty (may go after its delete horizon) only when this cleaning met no data of its transaction.
  I3  An aborted transaction whose data was met keeps its entry for the rewritten transaction index: a reader that
      still holds the old segment, and the data this pass leaves in place, need it.
Not here   when a horizon has passed and what is written (rewrite).
See        KIP-98, KIP-534, docs/formats/indexes.md.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from quire.records.batch import BatchHeader
from quire.records.control import ControlType
from quire.storage.transaction_index import AbortedTransaction


class CleanedTransactions:
    """The transactions of one pass over a log, from its oldest segment to the end of the cleaned range."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int, AbortedTransaction]] = []
        self._known: set[AbortedTransaction] = set()
        self._aborting: dict[int, tuple[AbortedTransaction, bool]] = {}
        self._with_data: set[int] = set()

    def add_aborted(self, transactions: Iterable[AbortedTransaction]) -> None:
        """Tell of aborted transactions; one that overlaps several segments may be told several times."""
        for transaction in transactions:
            if transaction not in self._known:
                self._known.add(transaction)
                order = (transaction.first_offset, transaction.last_offset, transaction)
                heapq.heappush(self._waiting, order)

    def is_aborted_data(self, header: BatchHeader) -> bool:
        """A data batch passes; True when it belongs to an aborted transaction (I1)."""
        self._open_up_to(header.last_offset)
        if not header.is_transactional:
            return False
        aborting = self._aborting.get(header.producer_id)
        if aborting is None:
            self._with_data.add(header.producer_id)
            return False
        self._aborting[header.producer_id] = (aborting[0], True)
        return True

    def on_marker(
        self, header: BatchHeader, kind: ControlType
    ) -> tuple[bool, AbortedTransaction | None]:
        """A marker passes; whether its transaction is empty (I2), and the index entry to keep (I3)."""
        self._open_up_to(header.last_offset)
        if kind is ControlType.COMMIT:
            empty = header.producer_id not in self._with_data
            self._with_data.discard(header.producer_id)
            return empty, None
        if kind is ControlType.ABORT:
            transaction, met_data = self._aborting.pop(header.producer_id, (None, False))
            # A producer whose data was read before its abort was known counts as met: keep the marker.
            met_undecided = header.producer_id in self._with_data
            self._with_data.discard(header.producer_id)
            empty = not met_data and not met_undecided
            return empty, transaction if met_data else None
        return False, None

    def _open_up_to(self, offset: int) -> None:
        while self._waiting and self._waiting[0][0] <= offset:
            transaction = heapq.heappop(self._waiting)[2]
            self._aborting[transaction.producer_id] = (transaction, False)
