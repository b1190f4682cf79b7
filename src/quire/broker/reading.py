"""From one partition of a fetch to what its answer says: epochs, bounds, records.

Invariants
  I1  A consumer sees nothing above the high watermark, or above the last stable offset where it reads committed data;
      a follower sees all there is.
  I2  A request with another leader epoch, or whose last fetched epoch is not on this log's chain, gets no records.
  I3  No bytes are read: records are a slice of a file, or empty.
Not here   sessions, sizes of whole answers, waiting (handlers.fetch).
See        KIP-320, KIP-392, KIP-595 (diverging epochs)
"""

from __future__ import annotations

from typing import Final, NamedTuple

from quire.broker.broker import Broker
from quire.broker.fetch_sessions import Wanted
from quire.broker.replica import Replica
from quire.errors import CorruptBatchError, ErrorCode, StorageError
from quire.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    LeaderIdAndEpoch,
    PartitionData,
    SnapshotId,
)
from quire.replication.leader import NO_EPOCH
from quire.storage.file_slice import FileSlice
from quire.storage.leader_epochs import UNKNOWN
from quire.storage.lookup import OutOfRange

OK: Final = ErrorCode.NONE
READ_COMMITTED: Final = 1
CONSUMER: Final = -1
UNKNOWN_OFFSET: Final = -1
EMPTY: Final = b""
NOT_DIVERGING: Final = EpochEndOffset()
NO_LEADER_TOLD: Final = LeaderIdAndEpoch()
NO_SNAPSHOT: Final = SnapshotId()
"""What most answers say; shared, and never written into."""


class Reader(NamedTuple):
    """Who fetches, and how."""

    replica_id: int
    """Of a follower; below zero for everybody else."""
    broker_epoch: int
    isolation: int
    only_leader: bool
    """Older consumers must not be served by a follower."""

    @property
    def is_follower(self) -> bool:
        return self.replica_id >= 0

    def bound(self, replica: Replica) -> int:
        """Below which offset records are shown (I1)."""
        log = replica.log
        if self.replica_id >= 0:
            return log.log_end_offset
        if self.isolation == READ_COMMITTED:
            return log.last_stable_offset
        return log.high_watermark


def refused(index: int, code: ErrorCode) -> PartitionData:
    """What is said of a partition that was not read."""
    return PartitionData(
        partition_index=index,
        error_code=code,
        high_watermark=UNKNOWN_OFFSET,
        aborted_transactions=None,
        records=EMPTY,
    )


def unknown(index: int, code: ErrorCode) -> PartitionData:
    """What is said of a partition that is not here at all."""
    answer = refused(index, code)
    answer.aborted_transactions = []
    return answer


def read(
    broker: Broker,
    replica: Replica,
    wanted: Wanted,
    reader: Reader,
    *,
    max_bytes: int,
    min_one: bool,
) -> PartitionData:
    """What one partition's answer says."""
    index = replica.topic_partition.partition
    check = replica.check_leader if reader.only_leader else replica.check_replica
    code = check(wanted.current_leader_epoch)
    if code is not OK:
        return refused(index, code)
    if max_bytes < 0:
        return refused(index, ErrorCode.UNKNOWN_SERVER_ERROR)
    offset = wanted.fetch_offset
    log = replica.log
    bound = reader.bound(replica)
    answer = PartitionData(
        partition_index=index,
        error_code=OK,
        high_watermark=log.high_watermark,
        last_stable_offset=log.last_stable_offset,
        log_start_offset=log.log_start_offset,
        aborted_transactions=None,
        records=EMPTY,
        diverging_epoch=NOT_DIVERGING,
        current_leader=NO_LEADER_TOLD,
        snapshot_id=NO_SNAPSHOT,
    )
    try:
        if wanted.last_fetched_epoch >= 0:
            code = _check_chain(replica, wanted, answer)
            if code is not OK:
                return refused(index, code)
            if answer.diverging_epoch.epoch >= 0:
                return answer
        if not log.log_start_offset <= offset <= log.log_end_offset:
            return refused(index, ErrorCode.OFFSET_OUT_OF_RANGE)
        if offset < bound:
            found = log.read(offset, max_bytes=max_bytes, upper_bound_offset=bound, min_one=min_one)
            if isinstance(found, OutOfRange):
                return refused(index, ErrorCode.OFFSET_OUT_OF_RANGE)
            if found.records.size:
                answer.records = found.records  # type: ignore[assignment]  # a slice stands for its bytes
        if reader.isolation == READ_COMMITTED:
            answer.aborted_transactions = _aborted(replica, offset, answer, bound)
    except CorruptBatchError:
        return refused(index, ErrorCode.CORRUPT_MESSAGE)
    except StorageError:
        return refused(index, ErrorCode.KAFKA_STORAGE_ERROR)
    except OSError as error:
        broker.replicas.failed(replica.hosted.log_dir, error)
        return refused(index, ErrorCode.KAFKA_STORAGE_ERROR)
    if reader.replica_id >= 0:
        return _follow(broker, replica, wanted, reader, answer)
    return answer


def size_of(answer: PartitionData) -> int:
    """The bytes of its records."""
    records: object = answer.records
    return records.size if isinstance(records, FileSlice) else 0


def _check_chain(replica: Replica, wanted: Wanted, answer: PartitionData) -> ErrorCode:
    """Whether what was fetched last is in this log; the answer says where they part, if they do (I2)."""
    log = replica.log
    end = log.end_offset_for_epoch(wanted.last_fetched_epoch)
    if end.epoch == UNKNOWN or wanted.fetch_offset < log.log_start_offset:
        return ErrorCode.OFFSET_OUT_OF_RANGE
    if end.epoch < wanted.last_fetched_epoch or end.end_offset < wanted.fetch_offset:
        answer.diverging_epoch = EpochEndOffset(epoch=end.epoch, end_offset=end.end_offset)
    return OK


def _aborted(
    replica: Replica, offset: int, answer: PartitionData, bound: int
) -> list[AbortedTransaction]:
    """The aborted transactions in the records of an answer."""
    records: object = answer.records
    if not isinstance(records, FileSlice):
        return []
    return [
        AbortedTransaction(producer_id=one.producer_id, first_offset=one.first_offset)
        for one in replica.log.aborted_transactions(offset, bound, records)
    ]


def _follow(
    broker: Broker, replica: Replica, wanted: Wanted, reader: Reader, answer: PartitionData
) -> PartitionData:
    """A follower has everything below the offset that it asks for."""
    leader = replica.leader
    assert leader is not None
    if reader.replica_id not in leader.followers:
        code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        if wanted.current_leader_epoch != NO_EPOCH:
            code = ErrorCode.UNKNOWN_LEADER_EPOCH
        return refused(answer.partition_index, code)
    change = leader.on_follower_fetch(
        reader.replica_id,
        fetch_offset=wanted.fetch_offset,
        log_start_offset=wanted.log_start_offset,
        broker_epoch=reader.broker_epoch,
        now_ms=broker.clock.monotonic_ms(),
    )
    if change is not None:
        broker.replicas.isr_changes[replica] = change
    before = replica.log.high_watermark
    broker.replicas.advance(replica, leader.high_watermark)
    if replica.log.high_watermark == before:
        broker.waiting.delete_records.changed(replica.topic_partition)
    answer.high_watermark = replica.log.high_watermark
    return answer
