"""What one log knows of the producers that write to it: duplicates, order, fencing, transactions.

Asked before an append (`check`), told after it (`apply`, `apply_marker`). Answers are values: a
refused batch is the producer's affair, not a failure of ours.

Invariants
  I1  A producer has at most five remembered batches, all of its present epoch, oldest first.
  I2  The open transactions are those with a first offset and no marker; each producer has at most
      one, and they are kept in the order of their first offsets.
  I3  A transaction is open, or decided and waiting for the high watermark to pass its marker, or
      forgotten; `first_unstable_offset` is the first offset of the earliest that is not forgotten.
  I4  State = what a snapshot gives + every batch from its offset to `end_offset`, in order.
Not here   who may write at all, verification of partitions in a transaction (the broker), the
           aborted transactions of a segment (storage.transaction_index).
See        docs/formats/producer-snapshot.md, KIP-98, KIP-360, KIP-890
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from quire.errors import CorruptFileError, ErrorCode
from quire.ports.disk import Disk
from quire.records.batch import BatchHeader
from quire.storage.producer_snapshot import (
    ProducerEntry,
    read_snapshot,
    remove_snapshot,
    remove_snapshots_after,
    snapshot_offsets,
    write_snapshot,
)

NONE: Final = -1
"""Where there is no epoch, sequence, offset or transaction."""
BATCHES_REMEMBERED: Final = 5
SEQUENCE_MAX: Final = 2**31 - 1
EPOCH_MAX: Final = 2**15 - 1
EXPIRATION_MS: Final = 86_400_000

_TRANSACTION_VERSION_WITH_EPOCH_BUMP = 2


@dataclass(frozen=True, slots=True)
class Accept:
    """The batch comes next."""


class Duplicate(NamedTuple):
    """The batch is in the log already: answer as if it had been written now."""

    base_offset: int
    last_offset: int
    timestamp: int


class Reject(NamedTuple):
    """The batch must not be written; `code` is the producer's answer."""

    code: ErrorCode
    message: str


Verdict: TypeAlias = Accept | Duplicate | Reject
ACCEPT: Final = Accept()


class ProducerBatch(NamedTuple):
    """One remembered batch."""

    first_sequence: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int


@dataclass(slots=True)
class Verification:
    """The coordinator is being asked whether a producer's first batch here is in a transaction.

    It counts as long as it is the one in `ProducerStates.verifying`.
    """

    epoch: int
    lowest_sequence: int
    """Of the batches that are asked of: the one that must come first."""
    since_ms: int


class CompletedTransaction(NamedTuple):
    """A transaction whose marker was appended.

    `last_offset` is the marker's; `last_stable_offset` is what it would be if the high watermark
    were at the end of the log, as the transaction index keeps it.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    is_aborted: bool
    last_stable_offset: int


class Reload(NamedTuple):
    """What was loaded: the log must be applied from `end_offset`; these snapshots were removed."""

    end_offset: int
    discarded: tuple[CorruptFileError, ...]


class Producer:
    """One producer as this log knows it."""

    __slots__ = (
        "batches",
        "coordinator_epoch",
        "epoch",
        "last_timestamp",
        "producer_id",
        "transaction_first_offset",
    )

    def __init__(self, producer_id: int, epoch: int = NONE) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.coordinator_epoch = NONE
        self.last_timestamp = NONE
        self.transaction_first_offset = NONE
        self.batches: deque[ProducerBatch] = deque(maxlen=BATCHES_REMEMBERED)

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NONE

    @property
    def last_offset(self) -> int:
        """Of its last data; -1 when none is remembered."""
        return self.batches[-1].last_offset if self.batches else NONE

    def move_to_epoch(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.batches.clear()
            self.epoch = epoch

    def entry(self) -> ProducerEntry:
        return ProducerEntry(
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            last_sequence=self.last_sequence,
            last_offset=self.last_offset,
            offset_delta=self.batches[-1].offset_delta if self.batches else 0,
            timestamp=self.last_timestamp,
            coordinator_epoch=self.coordinator_epoch,
            transaction_first_offset=self.transaction_first_offset,
        )

    @classmethod
    def from_entry(cls, entry: ProducerEntry) -> Producer:
        producer = cls(entry.producer_id, entry.producer_epoch)
        producer.coordinator_epoch = entry.coordinator_epoch
        producer.last_timestamp = entry.timestamp
        producer.transaction_first_offset = entry.transaction_first_offset
        if entry.last_offset >= 0:
            producer.batches.append(
                ProducerBatch(
                    first_sequence=_sequence_before(entry.last_sequence, entry.offset_delta),
                    last_sequence=entry.last_sequence,
                    last_offset=entry.last_offset,
                    offset_delta=entry.offset_delta,
                    timestamp=entry.timestamp,
                )
            )
        return producer


class ProducerStates:
    """All producers of one log, and its transactions."""

    def __init__(self, disk: Disk, directory: str, *, expiration_ms: int = EXPIRATION_MS) -> None:
        self._disk = disk
        self._directory = directory
        self.expiration_ms = expiration_ms
        self._producers: dict[int, Producer] = {}
        self._open: dict[int, int] = {}  # first offset -> producer id, ascending
        self._decided: dict[int, int] = {}  # first offset -> offset of the marker
        self.verifying: dict[int, Verification] = {}
        """By producer; whoever asks puts them in, and whatever ends or begins a transaction takes them out."""
        self._snapshot_offset = 0
        self.end_offset = 0
        """The state is that of all records below; a batch without a producer moves it, too."""

    def __len__(self) -> int:
        return len(self._producers)

    def __iter__(self) -> Iterator[Producer]:
        """Every producer, in the order of the ids."""
        return iter([self._producers[producer_id] for producer_id in sorted(self._producers)])

    def get(self, producer_id: int) -> Producer | None:
        return self._producers.get(producer_id)

    def last_records(self) -> Iterator[tuple[int, int, int]]:
        """(producer id, offset of its last data or -1, epoch): what compaction must keep."""
        for producer in self:
            yield producer.producer_id, producer.last_offset, producer.epoch

    # Before an append.

    def check(
        self, header: BatchHeader, *, from_client: bool, requires_sequence_zero: bool = False
    ) -> Verdict:
        """Whether a batch of data comes next.

        What a leader has accepted (`from_client` false: replication, recovery) is accepted again.
        `requires_sequence_zero`: of a producer not known here only sequence 0 is taken, as for
        clients that bump their epoch with every transaction.
        """
        if not from_client or header.producer_id < 0:
            return ACCEPT
        producer = self._producers.get(header.producer_id)
        if producer is None:
            if requires_sequence_zero and header.base_sequence != 0:
                return _out_of_order(header, "no sequence is known")
            return ACCEPT
        if header.producer_epoch == producer.epoch:
            for batch in producer.batches:
                if (
                    batch.first_sequence == header.base_sequence
                    and batch.last_sequence == header.last_sequence
                ):
                    base_offset = batch.last_offset - batch.offset_delta
                    return Duplicate(base_offset, batch.last_offset, batch.timestamp)
        return _check_next(header, producer)

    def check_marker(
        self,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        *,
        transaction_version: int,
    ) -> Accept | Reject:
        """Whether the end of a transaction may be written."""
        producer = self._producers.get(producer_id)
        if producer is None:
            return ACCEPT
        is_late = producer_epoch < producer.epoch
        if (
            transaction_version >= _TRANSACTION_VERSION_WITH_EPOCH_BUMP
            and producer_epoch == producer.epoch
        ):
            is_retry = producer.transaction_first_offset == NONE
            is_late = not is_retry and producer_epoch != EPOCH_MAX
        if is_late:
            return Reject(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"marker of producer {producer_id} with epoch {producer_epoch},"
                f" the last seen is {producer.epoch}",
            )
        if coordinator_epoch < producer.coordinator_epoch:
            return Reject(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"marker of producer {producer_id} from coordinator epoch {coordinator_epoch},"
                f" the last seen is {producer.coordinator_epoch}",
            )
        return ACCEPT

    # After an append.

    def apply(
        self, header: BatchHeader, *, base_offset: int | None = None, timestamp: int | None = None
    ) -> None:
        """Take in a batch of data; offset and timestamp where the header was not stamped yet."""
        first_offset = header.base_offset if base_offset is None else base_offset
        last_offset = first_offset + header.last_offset_delta
        self.end_offset = last_offset + 1
        if header.producer_id < 0 or (header.base_sequence < 0 and not header.is_transactional):
            return
        producer = self._producer(header.producer_id)
        producer.move_to_epoch(header.producer_epoch)
        last_timestamp = header.max_timestamp if timestamp is None else timestamp
        producer.last_timestamp = last_timestamp
        producer.batches.append(
            ProducerBatch(
                header.base_sequence,
                header.last_sequence,
                last_offset,
                header.last_offset_delta,
                last_timestamp,
            )
        )
        if header.is_transactional and producer.transaction_first_offset == NONE:
            producer.transaction_first_offset = first_offset
            self._open[first_offset] = header.producer_id
            self.verifying.pop(header.producer_id, None)

    def apply_marker(
        self, header: BatchHeader, *, coordinator_epoch: int, is_commit: bool, offset: int
    ) -> CompletedTransaction | None:
        """Take in the end of a transaction; None when none was open."""
        self.end_offset = offset + 1
        self.verifying.pop(header.producer_id, None)
        producer = self._producer(header.producer_id)
        producer.move_to_epoch(header.producer_epoch)
        producer.coordinator_epoch = coordinator_epoch
        producer.last_timestamp = header.max_timestamp
        first_offset = producer.transaction_first_offset
        if first_offset == NONE:
            return None
        producer.transaction_first_offset = NONE
        del self._open[first_offset]
        self._decided[first_offset] = offset
        return CompletedTransaction(
            producer_id=header.producer_id,
            first_offset=first_offset,
            last_offset=offset,
            is_aborted=not is_commit,
            last_stable_offset=next(iter(self._open), offset + 1),
        )

    def on_high_watermark(self, high_watermark: int) -> None:
        """Forget the transactions whose markers are below it."""
        if self._decided:
            self._decided = {
                first: marker for first, marker in self._decided.items() if marker >= high_watermark
            }

    @property
    def first_undecided_offset(self) -> int | None:
        """The first offset of the earliest open transaction."""
        return next(iter(self._open), None)

    @property
    def first_unstable_offset(self) -> int | None:
        """The last stable offset, unless the high watermark is lower; None: nothing holds it."""
        first = next(iter(self._open), None)
        if self._decided:
            decided = min(self._decided)
            return decided if first is None else min(first, decided)
        return first

    # Time, and the ends of the log.

    def remove_expired(self, now_ms: int) -> int:
        """Forget producers that were silent too long and have no open transaction; how many."""
        expired = [
            producer.producer_id
            for producer in self._producers.values()
            if self._is_expired(producer, now_ms)
        ]
        for producer_id in expired:
            del self._producers[producer_id]
        for producer_id, one in list(self.verifying.items()):
            if now_ms - one.since_ms >= self.expiration_ms:
                del self.verifying[producer_id]
        return len(expired)

    def on_log_start_offset(self, log_start_offset: int) -> None:
        """The log begins later: decided transactions below are nobody's concern."""
        self.on_high_watermark(log_start_offset)
        self.end_offset = max(self.end_offset, log_start_offset)

    def clear(self, end_offset: int) -> None:
        """Know nothing: the log is empty and begins at `end_offset`."""
        self._producers.clear()
        self._open.clear()
        self._decided.clear()
        self.verifying.clear()
        self._snapshot_offset = end_offset
        self.end_offset = end_offset

    def truncate_and_reload(
        self, *, log_start_offset: int, log_end_offset: int, now_ms: int
    ) -> Reload:
        """Go back to the newest good snapshot at or below `log_end_offset`.

        Snapshots above it, and broken ones, are removed. Without any the state is empty at
        `log_start_offset`. The caller applies the log from the `end_offset` it is told, which may
        lie below the log start (records were deleted inside the first segment).
        """
        remove_snapshots_after(self._disk, self._directory, log_end_offset)
        discarded: list[CorruptFileError] = []
        self.clear(log_start_offset)
        for offset in reversed(snapshot_offsets(self._disk, self._directory)):
            try:
                entries = read_snapshot(self._disk, self._directory, offset)
            except CorruptFileError as error:
                remove_snapshot(self._disk, self._directory, offset)
                discarded.append(error)
                continue
            self._load(entries, now_ms)
            self._snapshot_offset = self.end_offset = offset
            break
        return Reload(self.end_offset, tuple(discarded))

    def take_snapshot(self, offset: int | None = None, *, flush: bool = False) -> int | None:
        """Write the state at `offset` (the end offset if not said); the offset of the snapshot.

        None when there is one for it already; at offset 0 there is nothing to remember. Without
        `flush` a crash may take the file or tear it, which its checksum tells.
        """
        if offset is not None:
            assert offset >= self.end_offset, f"state at {self.end_offset}, not yet at {offset}"
            self.end_offset = offset
        if self.end_offset <= self._snapshot_offset:
            return None
        entries = [producer.entry() for producer in self]
        write_snapshot(self._disk, self._directory, self.end_offset, entries, flush=flush)
        self._snapshot_offset = self.end_offset
        return self.end_offset

    def _producer(self, producer_id: int) -> Producer:
        producer = self._producers.get(producer_id)
        if producer is None:
            producer = self._producers[producer_id] = Producer(producer_id)
        return producer

    def _load(self, entries: Iterable[ProducerEntry], now_ms: int) -> None:
        for entry in entries:
            producer = Producer.from_entry(entry)
            if not self._is_expired(producer, now_ms):
                self._producers[producer.producer_id] = producer
        transactions = [
            (producer.transaction_first_offset, producer.producer_id)
            for producer in self._producers.values()
            if producer.transaction_first_offset != NONE
        ]
        self._open = dict(sorted(transactions))

    def _is_expired(self, producer: Producer, now_ms: int) -> bool:
        return (
            producer.transaction_first_offset == NONE
            and now_ms - producer.last_timestamp >= self.expiration_ms
        )


def _check_next(header: BatchHeader, producer: Producer) -> Accept | Reject:
    if header.producer_epoch < producer.epoch:
        return Reject(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"producer {header.producer_id} writes with epoch {header.producer_epoch},"
            f" the last seen is {producer.epoch}",
        )
    if header.producer_epoch > producer.epoch:
        if header.base_sequence != 0 and producer.epoch != NONE:
            return _out_of_order(header, f"epoch {producer.epoch} came before, so 0 is due")
    elif header.base_sequence != sequence_after(producer.last_sequence):
        return _out_of_order(header, f"the last one was {producer.last_sequence}")
    if producer.transaction_first_offset != NONE and not header.is_transactional:
        return Reject(
            ErrorCode.INVALID_TXN_STATE,
            f"producer {header.producer_id} writes outside its open transaction",
        )
    return ACCEPT


def _out_of_order(header: BatchHeader, reason: str) -> Reject:
    return Reject(
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        f"producer {header.producer_id}, epoch {header.producer_epoch},"
        f" sequence {header.base_sequence}: {reason}",
    )


def sequence_after(sequence: int) -> int:
    """The sequence that comes next: after 2^31-1 comes 0."""
    return 0 if sequence == SEQUENCE_MAX else sequence + 1


def _sequence_before(sequence: int, count: int) -> int:
    """The sequence `count` before: before 0 comes 2^31-1."""
    return sequence - count if sequence >= count else SEQUENCE_MAX - (count - sequence - 1)
