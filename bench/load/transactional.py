"""Frames of transactional producers and of committed offsets; a server has to be asked for the producers' ids."""

from __future__ import annotations

from typing import Any, NamedTuple

from load.frames import MARK, RECORD_BYTES, frame
from load.servers import Asker, Server
from measure import TIMESTAMP_MS

from quire.errors import ErrorCode
from quire.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from quire.protocol.messages.end_txn import EndTxnRequest
from quire.protocol.messages.find_coordinator import FindCoordinatorRequest
from quire.protocol.messages.init_producer_id import InitProducerIdRequest
from quire.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from quire.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from quire.records.batch import encode_pairs

COMMIT_VERSION = 9
FIND_VERSION = 4
INIT_VERSION = 4
PRODUCE_VERSIONS = {1: 11, 2: 12}
END_VERSIONS = {1: 4, 2: 5}
ADD_VERSION = 3
TRANSACTION_TIMEOUT_MS = 60_000
GROUP, TRANSACTION = 0, 1
EPOCH_MARK = 0x2345


class Producer(NamedTuple):
    name: str
    id: int
    epoch: int


def find(server: Server, key: str, kind: int) -> None:
    """Wait until the key has a coordinator; the first to ask makes the coordinators' topic."""
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
    server.until(request, FIND_VERSION, lambda answer: answer.coordinators[0].error_code == 0)


def producer(server: Server, name: str) -> Producer:
    """Register a transactional id: an id and an epoch that nobody has used."""
    find(server, name, TRANSACTION)
    request = InitProducerIdRequest(
        transactional_id=name, transaction_timeout_ms=TRANSACTION_TIMEOUT_MS
    )
    found: list[Any] = []

    def given(answer: Any) -> bool:
        found.append(answer)
        return bool(answer.error_code == 0)

    server.until(request, INIT_VERSION, given)
    return Producer(name, found[-1].producer_id, found[-1].producer_epoch)


def batch(who: Producer, sequence: int, count: int = 1) -> bytes:
    """Records of 100 bytes."""
    return bytes(
        encode_pairs(
            [(None, b"v" * RECORD_BYTES)] * count, TIMESTAMP_MS, producer_id=who.id,
            producer_epoch=who.epoch, base_sequence=sequence, is_transactional=True,
        )
    )  # fmt: skip


def produce_request(who: Producer, topic: str, partition: int, records: bytes) -> ProduceRequest:
    data = [PartitionProduceData(index=partition, records=records)]
    return ProduceRequest(
        transactional_id=who.name, acks=-1, timeout_ms=30000,
        topic_data=[TopicProduceData(name=topic, partition_data=data)],
    )  # fmt: skip


def end_request(who: Producer, *, commit: bool) -> EndTxnRequest:
    return EndTxnRequest(
        transactional_id=who.name, producer_id=who.id, producer_epoch=who.epoch, committed=commit
    )


def transaction(who: Producer, topic: str, partition: int, version: int) -> list[bytes]:
    """The frames of one transaction of one record: three of transactions of version 1, two of version 2."""
    produce = produce_request(who, topic, partition, batch(who, 0))
    frames = [
        frame(produce, PRODUCE_VERSIONS[version]),
        frame(end_request(who, commit=True), END_VERSIONS[version]),
    ]
    if version == 1:
        adding = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=who.name,
            v3_and_below_producer_id=who.id,
            v3_and_below_producer_epoch=who.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic, partitions=[partition])],
        )
        frames.insert(0, frame(adding, ADD_VERSION))
    return frames


def places(name: str, topic: str, version: int) -> dict[str, int]:
    """Where the batch and the producer's id stand, whoever it is."""
    marked = Producer(name, MARK, EPOCH_MARK)
    *_, produce, end = transaction(marked, topic, 0, version)
    identity = MARK.to_bytes(8, "big") + EPOCH_MARK.to_bytes(2, "big")
    return {
        "steps": len(transaction(marked, topic, 0, version)),
        "batch-at": produce.index(batch(marked, 0)),
        "id-at": end.index(identity),
    }


def commit_request(group: str, topic: str, partition: int, offset: int) -> OffsetCommitRequest:
    """One offset, by nobody in particular."""
    place = OffsetCommitRequestPartition(
        partition_index=partition, committed_offset=offset, committed_metadata=""
    )
    return OffsetCommitRequest(
        group_id=group,
        member_id="",
        topics=[OffsetCommitRequestTopic(name=topic, partitions=[place])],
    )


def commit(server: Server, group: str, topic: str, partition: int, offset: int) -> bytes:
    """Its frame, once the group's coordinator has taken one."""
    find(server, group, GROUP)
    request = commit_request(group, topic, partition, offset)
    server.until(
        request, COMMIT_VERSION, lambda answer: not answer.topics[0].partitions[0].error_code
    )
    return frame(request, COMMIT_VERSION)


def insist(asker: Asker, request: Any, version: int, code: Any) -> Any:
    """Ask until the answer is not that the last transaction is ending still."""
    while True:
        answer = asker.ask(request, version)
        if code(answer) != ErrorCode.CONCURRENT_TRANSACTIONS:
            if code(answer):
                raise RuntimeError(f"{request} was refused: {code(answer)}")
            return answer
