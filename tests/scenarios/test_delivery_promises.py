"""At most once, at least once, exactly once: each way of working, measured while its consumer dies again and again.

A consumer reads `in`, makes of each record one in `out`, and commits where it is. It dies between the two steps of its
way, at places that the seed draws, and another takes its place. What counts is what a reader of `out` sees in the end:
how many records are missing, how many are there twice.

The weaker ways must really lose and double under these deaths, or the deaths prove nothing of the strong one.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from tests.sim.scene import Scene, living

from quire.clients.cluster import Cluster
from quire.clients.coordinators import Kind, ask_coordinator
from quire.clients.errors import expect
from quire.clients.offsets import LATEST, READ_COMMITTED, READ_UNCOMMITTED, offsets_at
from quire.clients.reader import Reader
from quire.errors import ErrorCode
from quire.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from quire.protocol.messages.end_txn import EndTxnRequest
from quire.protocol.messages.init_producer_id import InitProducerIdRequest
from quire.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from quire.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from quire.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from quire.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from quire.records.batch import encode_batch
from quire.records.record import Record
from quire.sim.clock import START_MS

RECORDS = 40
SETTINGS = {
    "offsets_topic_replication_factor": "1",
    "offsets_topic_num_partitions": "1",
    "transaction_state_log_replication_factor": "1",
    "transaction_state_log_min_isr": "1",
    "transaction_state_log_num_partitions": "1",
}
GROUP = NAME = "worker"
BY_NAME = 9
SEEDS = (1, 2, 3)


class DiedError(Exception):
    """The consumer is gone, in the middle of what it did."""


@dataclass(frozen=True)
class Measured:
    """What is wrong with `out`."""

    lost: int
    doubled: int
    deaths: int


class Worker:
    """One life of the consumer, until it dies or everything is done."""

    def __init__(self, cluster: Cluster, dies: Callable[[], bool]) -> None:
        self._cluster = cluster
        self._dies = dies
        self._producer = (-1, -1)
        self._sequence = 0

    async def at_most_once(self) -> None:
        async for offset, value in self._left():
            await self._commit(offset + 1)
            self._maybe_die()
            await self._produce(value)

    async def at_least_once(self) -> None:
        async for offset, value in self._left():
            await self._produce(value)
            self._maybe_die()
            await self._commit(offset + 1)

    async def exactly_once(self) -> None:
        await self._begin()
        async for offset, value in self._left():
            await self._produce(value, in_transaction=True)
            self._maybe_die()
            await self._commit_in_transaction(offset + 1)
            self._maybe_die()
            await self._end()

    def _maybe_die(self) -> None:
        if self._dies():
            raise DiedError

    # --- reading ------------------------------------------------------------------------------

    async def _left(self) -> Any:
        """Each record behind what was committed, with its offset."""
        topic = await self._cluster.topic("in")
        reader, position = Reader(self._cluster, topic), await self._committed()
        while position < RECORDS:
            for fetched in await reader.fetch({0: position}):
                for record in fetched.records:
                    yield record.offset, record.value
                position = fetched.next_offset

    async def _committed(self) -> int:
        wanted = OffsetFetchRequestGroup(group_id=GROUP, topics=None)

        async def ask(node_id: int) -> int:
            connection = await self._cluster.broker(node_id)
            request = OffsetFetchRequest(groups=[wanted], require_stable=True)
            answer = await connection.ask(request, version=BY_NAME)
            expect(answer.groups[0].error_code, "committed offsets")
            found = [one for topic in answer.groups[0].topics for one in topic.partitions]
            for one in found:
                expect(one.error_code, "committed offset")
            return found[0].committed_offset if found else 0

        return await ask_coordinator(self._cluster, Kind.GROUP, GROUP, ask)

    async def _commit(self, offset: int) -> None:
        one = OffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata=""
        )
        topic = OffsetCommitRequestTopic(name="in", partitions=[one])
        request = OffsetCommitRequest(group_id=GROUP, member_id="", topics=[topic])

        async def ask(node_id: int) -> None:
            connection = await self._cluster.broker(node_id)
            answer = await connection.ask(request, version=BY_NAME)
            expect(answer.topics[0].partitions[0].error_code, "commit")

        await ask_coordinator(self._cluster, Kind.GROUP, GROUP, ask)

    # --- writing ------------------------------------------------------------------------------

    async def _produce(self, value: bytes, *, in_transaction: bool = False) -> None:
        fields: dict[str, Any] = {}
        if in_transaction:
            producer_id, epoch = self._producer
            fields = {
                "producer_id": producer_id, "producer_epoch": epoch,
                "base_sequence": self._sequence, "is_transactional": True,
            }  # fmt: skip
            self._sequence += 1
        name = NAME if in_transaction else None
        await produce(self._cluster, "out", [value], name, **fields)

    async def _begin(self) -> None:
        """The last one of this name, and what it had open, is fenced and aborted."""
        request = InitProducerIdRequest(transactional_id=NAME, transaction_timeout_ms=60_000)
        answer = await self._of_coordinator(request)
        self._producer, self._sequence = (answer.producer_id, answer.producer_epoch), 0

    async def _commit_in_transaction(self, offset: int) -> None:
        producer_id, epoch = self._producer
        one = TxnOffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata=""
        )
        request = TxnOffsetCommitRequest(
            transactional_id=NAME, group_id=GROUP, producer_id=producer_id, producer_epoch=epoch,
            topics=[TxnOffsetCommitRequestTopic(name="in", partitions=[one])],
        )  # fmt: skip

        async def ask(node_id: int) -> None:
            answer = await self._cluster.ask(request, node_id=node_id)
            expect(answer.topics[0].partitions[0].error_code, "commit in a transaction")

        await ask_coordinator(self._cluster, Kind.GROUP, GROUP, ask)

    async def _end(self) -> None:
        producer_id, epoch = self._producer
        request = EndTxnRequest(
            transactional_id=NAME, producer_id=producer_id, producer_epoch=epoch, committed=True
        )
        answer = await self._of_coordinator(request)
        self._producer, self._sequence = (answer.producer_id, answer.producer_epoch), 0

    async def _of_coordinator(self, request: Any) -> Any:
        async def ask(node_id: int) -> Any:
            answer = await self._cluster.ask(request, node_id=node_id)
            expect(answer.error_code, type(request).__name__)
            return answer

        return await ask_coordinator(self._cluster, Kind.TRANSACTION, NAME, ask)


async def produce(
    cluster: Cluster, topic_name: str, values: list[bytes], name: str | None = None, **fields: Any
) -> None:
    """One batch, acknowledged by all."""
    topic = await cluster.topic(topic_name)
    records = [Record(index, START_MS, None, value) for index, value in enumerate(values)]
    batch = bytes(encode_batch(records, **fields))
    data = TopicProduceData(
        name=topic_name, topic_id=topic.topic_id,
        partition_data=[PartitionProduceData(index=0, records=batch)],
    )  # fmt: skip
    request = ProduceRequest(transactional_id=name, acks=-1, timeout_ms=5_000, topic_data=[data])
    while True:
        answer = await cluster.ask(request, node_id=1)
        code = ErrorCode(answer.responses[0].partition_responses[0].error_code)
        if code is ErrorCode.NONE:
            return
        assert code is ErrorCode.CONCURRENT_TRANSACTIONS, code
        await asyncio.sleep(0.02)


async def seen(cluster: Cluster, isolation: int) -> Counter[bytes]:
    """What a reader of `out` sees."""
    topic = await cluster.topic("out")
    end = (await offsets_at(cluster, topic, {0: LATEST}, isolation=isolation))[0]
    reader, position, values = Reader(cluster, topic, isolation=isolation), 0, Counter[bytes]()
    while position < end:
        for fetched in await reader.fetch({0: position}):
            values.update(one.value for one in fetched.records if one.value is not None)
            position = fetched.next_offset
    return values


def measured(way: str, *, seed: int, isolation: int = READ_COMMITTED, **changed: str) -> Measured:
    """Let consumers work in one way until everything is done, and count."""

    async def main(scene: Scene) -> Measured:
        await scene.until_serving()
        async with scene.cluster() as cluster:
            wanted = [
                CreatableTopic(
                    name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]
                )
                for name in ("in", "out")
            ]
            await cluster.ask(CreateTopicsRequest(topics=wanted))
            await produce(cluster, "in", [b"%d" % number for number in range(RECORDS)])
        fate = scene.entropy.stream("fate")
        deaths = await until_done(scene, way, lambda: fate.one_in(6))
        async with scene.cluster() as cluster:
            found = await seen(cluster, isolation)
        assert sum(found.values()) >= len(found)
        lost = RECORDS - len(found)
        return Measured(lost, sum(found.values()) - len(found), deaths)

    result: Measured = living(main, seed=seed, **SETTINGS, **changed)
    return result


async def until_done(scene: Scene, way: str, dies: Callable[[], bool]) -> int:
    """One life after another; how many ended early."""
    deaths = 0
    while True:
        async with scene.cluster(f"worker-{deaths}") as cluster:
            work: Callable[[], Awaitable[None]] = getattr(Worker(cluster, dies), way)
            try:
                await work()
            except DiedError:
                deaths += 1
            else:
                return deaths


@pytest.mark.parametrize("seed", SEEDS)
def test_at_most_once_never_doubles_and_does_lose(seed: int) -> None:
    found = measured("at_most_once", seed=seed)
    assert found.doubled == 0
    assert found.lost == found.deaths > 0, "each death costs the record in hand"


@pytest.mark.parametrize("seed", SEEDS)
def test_at_least_once_never_loses_and_does_double(seed: int) -> None:
    found = measured("at_least_once", seed=seed)
    assert found.lost == 0
    assert found.doubled == found.deaths > 0, "each death does the record in hand twice"


@pytest.mark.parametrize("seed", SEEDS)
def test_exactly_once_neither_loses_nor_doubles(seed: int) -> None:
    found = measured("exactly_once", seed=seed)
    assert (found.lost, found.doubled) == (0, 0)
    assert found.deaths > 3


def test_exactly_once_is_for_readers_of_committed_data_only() -> None:
    found = measured("exactly_once", seed=1, isolation=READ_UNCOMMITTED)
    assert found.lost == 0
    assert found.doubled == found.deaths > 0, "what was aborted is there, for who wants to see it"
