"""What a producer's settings promise while the node dies and answers come too late: how many records are missing in the
end, how many are there twice.

acks=0, no retries                 each record at most once
acks=all, retries                  each record at least once
acks=all, retries, idempotence     each record once
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import pytest
from tests.sim.scene import Scene, living

from quire.clients.cluster import Cluster
from quire.clients.errors import ClientError
from quire.clients.offsets import LATEST, offsets_at
from quire.clients.reader import Reader
from quire.errors import ErrorCode
from quire.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from quire.protocol.messages.init_producer_id import InitProducerIdRequest
from quire.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from quire.records.batch import encode_batch
from quire.records.record import Record
from quire.sim.clock import START_MS
from quire.sim.entropy import SeededEntropy

RECORDS = 60
PAUSE_SECONDS = 0.1
PATIENCE_MS = 12
"""About what an answer takes: some come too late for their producer, who has hung up by then."""
SEEDS = (1, 2, 3)
ALL, NONE = -1, 0


class Measured(NamedTuple):
    """What is wrong with the log, and how many sends failed."""

    lost: int
    doubled: int
    failures: int


class Sender:
    """A producer of one record a batch, whose patience the seed draws."""

    def __init__(self, scene: Scene, topic_id: bytes, entropy: SeededEntropy) -> None:
        self.failures = 0
        self._scene = scene
        self._topic_id = topic_id
        self._entropy = entropy

    async def at_most_once(self) -> None:
        for number in range(RECORDS):
            await self._send(number, acks=NONE)

    async def at_least_once(self) -> None:
        for number in range(RECORDS):
            while not await self._send(number, acks=ALL):
                pass

    async def once(self) -> None:
        async with self._scene.cluster() as cluster:
            request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
            answer = await cluster.ask(request)
        for number in range(RECORDS):
            known = {
                "producer_id": answer.producer_id, "producer_epoch": answer.producer_epoch,
                "base_sequence": number,
            }  # fmt: skip
            while not await self._send(number, acks=ALL, **known):
                pass

    async def _send(self, number: int, *, acks: int, **known: Any) -> bool:
        """Whether it was acknowledged; the node may die meanwhile."""
        batch = encode_batch([Record(0, START_MS, None, b"%d" % number)], **known)
        data = TopicProduceData(
            name="out", topic_id=self._topic_id,
            partition_data=[PartitionProduceData(index=0, records=bytes(batch))],
        )  # fmt: skip
        request = ProduceRequest(acks=acks, timeout_ms=5_000, topic_data=[data])
        await asyncio.sleep(PAUSE_SECONDS)
        if self._entropy.one_in(8):
            self._scene.life.kill(loses_power=False)
        try:
            code = await self._tell(request) if acks == NONE else await self._ask(request)
        except (OSError, TimeoutError, ClientError):
            code = ErrorCode.NETWORK_EXCEPTION
        assert code is ErrorCode.NONE or code.retriable, code
        self.failures += code is not ErrorCode.NONE
        return code is ErrorCode.NONE

    async def _tell(self, request: ProduceRequest) -> ErrorCode:
        async with self._scene.cluster() as cluster:
            (await cluster.broker(1)).tell(request)
            await asyncio.sleep(PAUSE_SECONDS)
        return ErrorCode.NONE

    async def _ask(self, request: ProduceRequest) -> ErrorCode:
        patience_ms = 1 + self._entropy.below(PATIENCE_MS)
        async with self._scene.cluster() as cluster:
            connection = await cluster.broker(1)
            answer = await connection.ask(request, timeout_seconds=patience_ms / 1000)
        return ErrorCode(answer.responses[0].partition_responses[0].error_code)


async def kept(cluster: Cluster) -> Counter[bytes]:
    """What is in the log."""
    topic = await cluster.topic("out")
    end = (await offsets_at(cluster, topic, {0: LATEST}))[0]
    reader, position, values = Reader(cluster, topic), 0, Counter[bytes]()
    while position < end:
        for fetched in await reader.fetch({0: position}):
            values.update(one.value for one in fetched.records if one.value is not None)
            position = fetched.next_offset
    return values


def measured(way: str, seed: int) -> Measured:
    """Let a producer send everything in one way, and count."""

    async def main(scene: Scene) -> Measured:
        await scene.until_serving()
        async with scene.cluster() as cluster:
            wanted = CreatableTopic(
                name="out", num_partitions=1, replication_factor=1, assignments=[], configs=[]
            )
            await cluster.ask(CreateTopicsRequest(topics=[wanted]))
            topic_id = (await cluster.topic("out")).topic_id
        sender = Sender(scene, topic_id, scene.entropy.stream("patience"))
        send: Callable[[], Awaitable[None]] = getattr(sender, way)
        await send()
        await scene.until_serving()
        async with scene.cluster() as cluster:
            found = await kept(cluster)
        doubled = sum(found.values()) - len(found)
        return Measured(RECORDS - len(found), doubled, sender.failures)

    result: Measured = living(main, seed=seed)
    return result


@pytest.mark.parametrize("seed", SEEDS)
def test_acks_0_never_doubles_and_does_lose(seed: int) -> None:
    found = measured("at_most_once", seed)
    assert found.doubled == 0
    assert found.lost > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_retries_never_lose_and_do_double(seed: int) -> None:
    found = measured("at_least_once", seed)
    assert found.lost == 0
    assert 0 < found.doubled <= found.failures


@pytest.mark.parametrize("seed", SEEDS)
def test_idempotent_retries_neither_lose_nor_double(seed: int) -> None:
    found = measured("once", seed)
    assert (found.lost, found.doubled) == (0, 0)
    assert found.failures > 3
