"""Producers write, readers read, a node crashes and recovers: nothing promised may be lost or doubled.

Several producers, half of them idempotent, write small batches to a few partitions and try again until each batch is
acknowledged; readers follow every partition from its start. In half of the worlds the node answers only when the disk
has the records (quire.log.fsync.before.ack), so that a power loss may take nothing that was acknowledged.

Two phases: faults, then everything is healed and must converge: every producer finishes, and what the logs hold is read
once more, and again after a clean restart.

Not here   the laws (sim.laws), the faults (sim.nemesis).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from quire.clients.cluster import Cluster
from quire.clients.errors import AnswerError
from quire.clients.offsets import EARLIEST, LATEST, offsets_at
from quire.clients.reader import Reader
from quire.errors import ErrorCode, QuireError
from quire.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from quire.protocol.messages.init_producer_id import InitProducerIdRequest
from quire.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from quire.records.batch import encode_batch
from quire.records.compression import Compression
from quire.records.record import Record
from quire.sim.entropy import SeededEntropy
from quire.sim.history import Acknowledged, History, PartitionHistory, Place, Seen, Value
from quire.sim.laws import judge
from quire.sim.nemesis import WEIGHTS
from quire.sim.workloads.work import (
    ANSWER_SECONDS,
    DURABLE,
    PASSING,
    PASSING_CODES,
    PAUSE_SECONDS,
    WRITTEN_MS,
    World,
    create_topic,
)

SENDS_PER_CONNECTION = 20
TOPIC_CONFIG = 2
SEGMENT_BYTES = "internal.segment.bytes"
CODECS = (Compression.NONE, Compression.GZIP, Compression.LZ4, Compression.ZSTD)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the seed decides before anything runs."""

    topics: dict[str, int]
    producers: int
    batches: int
    is_durable: bool


def plan(entropy: SeededEntropy) -> Plan:
    """Draw a plan."""
    topics = {f"topic-{number}": 1 + entropy.below(3) for number in range(1 + entropy.below(2))}
    return Plan(
        topics=topics,
        producers=2 + entropy.below(4),
        batches=20 + entropy.below(30),
        is_durable=entropy.one_in(2),
    )


class ProduceConsumeWorkload:
    """See the module."""

    def __init__(self, world: World, entropy: SeededEntropy) -> None:
        self._world = world
        self._history = world.history
        self._entropy = entropy
        self.plan = plan(entropy.stream("plan"))
        self._readers: list[asyncio.Task[None]] = []
        self._is_over = False

    def settings(self) -> dict[str, str]:
        return DURABLE if self.plan.is_durable else {}

    def faults(self) -> dict[str, int]:
        return WEIGHTS

    def judge(self) -> None:
        judge(self._history)

    def acknowledged(self) -> int:
        return sum(len(one.acknowledged) for one in self._history.partitions.values())

    async def run(self, faults: asyncio.Task[None]) -> None:
        """Both phases; `faults` is the nemesis at work."""
        await self._create_topics()
        places = [Place(t, p) for t, count in self.plan.topics.items() for p in range(count)]
        for place in places:
            self._history.partitions[place] = PartitionHistory(self.plan.is_durable)
        producers = [
            asyncio.ensure_future(self._produce(number, places))
            for number in range(self.plan.producers)
        ]
        readers = [asyncio.ensure_future(self._read(place)) for place in places]
        await faults
        await asyncio.gather(*producers)
        self._is_over = True
        await asyncio.gather(*readers)
        await self._look_once_more()

    # --- clients ------------------------------------------------------------------------------

    async def _create_topics(self) -> None:
        for topic, partitions in self.plan.topics.items():
            size = str(512 + self._entropy.below(4096))
            await create_topic(self._world, topic, partitions, {SEGMENT_BYTES: size})
            self._history.topics_promised[topic] = size

    async def _produce(self, number: int, places: list[Place]) -> None:
        entropy = self._entropy.stream(f"producer {number}")
        place = places[entropy.below(len(places))]
        producer = Producer(f"p{number}", place, self._history, entropy)
        for _ in range(self.plan.batches):
            producer.draw_batch()
            await self._send(producer)
            await asyncio.sleep(entropy.below(500) / 1000)

    async def _send(self, producer: Producer) -> None:
        """Again and again, until the batch is acknowledged."""
        while True:
            try:
                async with self._cluster(producer.name) as cluster:
                    for _ in range(SENDS_PER_CONNECTION):
                        if await producer.send(cluster):
                            return
                        await asyncio.sleep(PAUSE_SECONDS)
            except PASSING:
                producer.answer_was_lost()
                await asyncio.sleep(PAUSE_SECONDS)

    async def _read(self, place: Place) -> None:
        position = 0
        history = self._history.partitions[place]
        while True:
            is_last = self._is_over
            try:
                position = await self._read_from(place, position, history)
            except AnswerError as refused:
                if refused.code is not ErrorCode.OFFSET_OUT_OF_RANGE:
                    raise
                position = 0  # a power loss took what was read; whether it may have is for the laws
            except PASSING:
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            if is_last:
                return

    async def _read_from(self, place: Place, position: int, history: PartitionHistory) -> int:
        async with self._cluster("reader") as cluster:
            reader = Reader(cluster, await cluster.topic(place.topic), max_bytes=4096)
            while True:
                generation = self._history.generation
                fetched = await reader.fetch({place.partition: position}, max_wait_ms=300)
                for one in fetched:
                    history.seen += [
                        Seen(record.offset, Value.of(record.value), generation)
                        for record in one.records
                    ]
                    position = one.next_offset
                if self._is_over and fetched and position >= fetched[0].high_watermark:
                    return position

    async def _look_once_more(self) -> None:
        """The final state, and the same again after a clean restart."""
        first = await self._everything()
        await self._world.life.restart_cleanly()
        second = await self._everything()
        if first != second:
            raise QuireError("a clean restart changed what the logs hold")

    async def _everything(self) -> dict[Place, list[tuple[int, Value]]]:
        while True:
            try:
                async with self._cluster("auditor") as cluster:
                    found = {
                        place: await _all_of(cluster, place) for place in self._history.partitions
                    }
                    self._history.topics_found = await _settings(cluster, self.plan.topics)
                    break
            except PASSING:
                await asyncio.sleep(PAUSE_SECONDS)
        for place, records in found.items():
            self._history.partitions[place].final = records
        return found

    def _cluster(self, client_id: str) -> Cluster:
        return self._world.cluster(client_id)


class Producer:
    """One producer of one partition; a batch is sent until it is acknowledged."""

    def __init__(self, name: str, place: Place, history: History, entropy: SeededEntropy) -> None:
        self.name = name
        self._place = place
        self._history = history
        self._partition = history.partitions[place]
        self._entropy = entropy
        self._is_idempotent = entropy.one_in(2)
        self._producer_id = -1
        self._epoch = -1
        self._sequence = 0
        self._generation = 0
        self._number = 0
        self._batch: list[Value] = []
        self._codec = Compression.NONE

    def draw_batch(self) -> None:
        """What is to be sent next."""
        count = 1 + self._entropy.below(5)
        self._batch = [Value(self.name, self._number + n) for n in range(count)]
        self._number += count
        self._codec = CODECS[self._entropy.below(len(CODECS))]
        self._partition.sent.update(self._batch)

    def answer_was_lost(self) -> None:
        """The batch may be there or not; sending it again is safe only with a sequence number."""
        if not self._is_idempotent:
            self._partition.may_repeat.update(self._batch)

    async def send(self, cluster: Cluster) -> bool:
        """Send the batch once; whether it is acknowledged."""
        if self._is_idempotent and self._producer_id < 0:
            await self._begin_anew(cluster)
            if self._producer_id < 0:
                return False
        topic = await cluster.topic(self._place.topic)
        leader = topic.partitions[self._place.partition].leader_id
        generation = self._history.generation
        data = PartitionProduceData(index=self._place.partition, records=self._encoded())
        request = ProduceRequest(
            acks=-1,
            timeout_ms=4000,
            topic_data=[
                TopicProduceData(
                    name=self._place.topic, topic_id=topic.topic_id, partition_data=[data]
                )
            ],
        )
        answer = await cluster.ask(request, node_id=leader, timeout_seconds=ANSWER_SECONDS)
        told = answer.responses[0].partition_responses[0]
        return self._take(ErrorCode.of(told.error_code), told.base_offset, generation)

    def _take(self, code: ErrorCode, base_offset: int, generation: int) -> bool:
        if code is ErrorCode.NONE:
            self._partition.acknowledged += [
                Acknowledged(value, base_offset + n, generation)
                for n, value in enumerate(self._batch)
                if base_offset >= 0
            ]
            self._sequence += len(self._batch)
            return True
        if code in _LOST_STATE and self._may_have_lost_state:
            self._producer_id = -1
            self._partition.may_repeat.update(self._batch)
            return False
        if code.retriable or code in PASSING_CODES:
            self.answer_was_lost()
            return False
        raise AnswerError(code, f"{self.name} to {self._place}")

    async def _begin_anew(self, cluster: Cluster) -> None:
        answer = await cluster.ask(
            InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000),
            timeout_seconds=ANSWER_SECONDS,
        )
        if answer.error_code == ErrorCode.NONE:
            self._producer_id, self._epoch = answer.producer_id, answer.producer_epoch
            self._sequence = 0
            self._generation = self._history.generation

    @property
    def _may_have_lost_state(self) -> bool:
        lost_power = self._history.generation > self._generation
        return lost_power and not self._partition.is_durable

    def _encoded(self) -> bytearray:
        records = [
            Record(n, WRITTEN_MS, b"key", value.text(), ()) for n, value in enumerate(self._batch)
        ]
        if not self._is_idempotent:
            return encode_batch(records, compression=self._codec)
        return encode_batch(
            records,
            compression=self._codec,
            producer_id=self._producer_id,
            producer_epoch=self._epoch,
            base_sequence=self._sequence,
        )


_LOST_STATE = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID)
"""A power loss took batches that an idempotent producer believes to be there."""


async def _all_of(cluster: Cluster, place: Place) -> list[tuple[int, Value]]:
    topic = await cluster.topic(place.topic)
    first = await offsets_at(cluster, topic, {place.partition: EARLIEST})
    last = await offsets_at(cluster, topic, {place.partition: LATEST})
    reader = Reader(cluster, topic)
    position = first[place.partition]
    found: list[tuple[int, Value]] = []
    while position < last[place.partition]:
        for one in await reader.fetch({place.partition: position}):
            found += [(record.offset, Value.of(record.value)) for record in one.records]
            position = one.next_offset
    return found


async def _settings(cluster: Cluster, topics: dict[str, int]) -> dict[str, str]:
    answer = await cluster.ask(
        DescribeConfigsRequest(
            resources=[
                DescribeConfigsResource(
                    resource_type=TOPIC_CONFIG,
                    resource_name=topic,
                    configuration_keys=[SEGMENT_BYTES],
                )
                for topic in topics
            ]
        )
    )
    return {one.resource_name: one.configs[0].value or "" for one in answer.results if one.configs}
