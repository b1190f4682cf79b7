"""A house that coordinates transactions: its host, its markers, ids, and requests as they come over the wire.

async def story(house: Storehouse) -> None:
    desk = await Desk.open(house)
    me = await desk.begin("t")
    await desk.produce("t", me, "orders")
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine
from importlib import import_module
from typing import Any

from tests.broker.storehouse import Storehouse

from quire.broker.call import HOLD, LATER, Call, Client
from quire.broker.controller_link import ControllerUnavailableError
from quire.broker.dispatch import BROKER_TABLE
from quire.broker.internal_topics import TRANSACTIONS
from quire.broker.markers import Markers
from quire.broker.peers import Nobody, Peers
from quire.broker.transactions import make_host
from quire.errors import ErrorCode
from quire.metadata.delta import Touched
from quire.ports.network import Address
from quire.protocol.apis import APIS
from quire.protocol.compiler import codec
from quire.protocol.messages import REQUESTS
from quire.protocol.messages import add_partitions_to_txn as adding
from quire.protocol.messages import metadata_records as records
from quire.protocol.messages import produce as producing
from quire.protocol.messages.end_txn import EndTxnRequest
from quire.protocol.messages.init_producer_id import InitProducerIdRequest
from quire.records.batch import encode_batch
from quire.records.record import Record
from quire.storage.file_slice import FileSlice
from quire.transactions.transaction import ProducerId

CLIENT = Client(Address("127.0.0.1", 5555), "PLAINTEXT")
NOW_MS = 1_700_000_000_000
"""About what the clock of the house says: much older records would have a segment of their own."""
BY_PRODUCER = 3
"""The version in which producers add partitions themselves."""


class Ids:
    """Producer ids, until there are none."""

    def __init__(self) -> None:
        self.last = 100
        self.away = 0

    async def next(self) -> int:
        await asyncio.sleep(0)
        if self.away:
            self.away -= 1
            raise ControllerUnavailableError("away")
        self.last += 1
        return self.last


class Desk:
    """See the module."""

    def __init__(self, house: Storehouse, peers: Peers) -> None:
        self.house = house
        self.broker = house.broker
        self.ids = Ids()
        self.broker.producer_ids = self.ids  # type: ignore[assignment]
        self.broker.peers = peers
        self.tasks: list[asyncio.Task[None]] = []
        self.markers = Markers(self.broker, peers, self._start)
        self.host = make_host(self.broker, self.markers.on_effect)
        self.broker.hosts[TRANSACTIONS] = self.host

    @classmethod
    async def open(
        cls, house: Storehouse, *, level: int = 2, peers: Peers | None = None, leader: int = 1
    ) -> Desk:
        desk = cls(house, peers or Nobody())
        await house.learn(
            records.FeatureLevelRecord(name="transaction.version", feature_level=level)
        )
        await house.topic(TRANSACTIONS, partitions=2, replicas=(leader,), leader=leader)
        await house.topic("orders", partitions=2)
        desk.catch_up()
        return desk

    def catch_up(self) -> None:
        self.host.apply(self.house.image, Touched())

    async def ask(self, request: Any, version: int | None = None) -> Any:
        """The answer to one request, whenever it comes, by way of the bytes of both."""
        api = next(APIS[key] for key, (found, _) in REQUESTS.items() if found is type(request))
        spoken = api.highest_stable if version is None else version
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        codes = codec(type(request), spoken)
        call = Call(
            api,
            spoken,
            codes.decode_all(codes.encode(request)),
            client=CLIENT,
            client_id="test",
            received_ms=self.house.clock.monotonic_ms(),
            answer=future.set_result,
        )
        module = BROKER_TABLE[api.key].module  # type: ignore[index]
        found = import_module(f"quire.broker.handlers.{module}").handle(self.broker, call)
        response = await found if inspect.isawaitable(found) else found
        if response is HOLD or response is LATER:
            response = await future
        answers = codec(REQUESTS[api.key][1], spoken)
        parts = answers.buffers(response)
        whole = (one.read() if isinstance(one, FileSlice) else bytes(one) for one in parts)
        return answers.decode_all(b"".join(whole))

    async def begin(self, name: str = "t", *, timeout_ms: int = 60_000) -> ProducerId:
        """A producer; whoever was it before is fenced."""
        request = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=timeout_ms)
        while True:
            answer = await self.ask(request)
            if answer.error_code == ErrorCode.NONE:
                return ProducerId(answer.producer_id, answer.producer_epoch)
            assert answer.error_code == ErrorCode.CONCURRENT_TRANSACTIONS
            await asyncio.sleep(0.01)

    async def add(
        self, name: str, producer: ProducerId, *places: tuple[str, int]
    ) -> list[ErrorCode]:
        """As a producer of version 1."""
        answer = await self.ask(add_request(name, producer, *places), BY_PRODUCER)
        return [
            ErrorCode(one.partition_error_code)
            for topic in answer.results_by_topic_v3_and_below
            for one in topic.results_by_partition
        ]

    async def end(
        self, name: str, producer: ProducerId, *, committed: bool = True, version: int = 5
    ) -> tuple[ErrorCode, ProducerId]:
        request = EndTxnRequest(
            transactional_id=name,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            committed=committed,
        )
        answer = await self.ask(request, version)
        goes_on = ProducerId(answer.producer_id, answer.producer_epoch)
        return ErrorCode(answer.error_code), goes_on

    async def produce(
        self,
        name: str | None,
        producer: ProducerId,
        topic: str = "orders",
        *,
        partition: int = 0,
        sequence: int = 0,
        count: int = 1,
        version: int = 12,
        transactional: bool = True,
    ) -> ErrorCode:
        """One batch."""
        batch = batch_of(producer, sequence, count, transactional=transactional)
        answer = await self.ask(produce_request(name, topic, {partition: bytes(batch)}), version)
        return ErrorCode(answer.responses[0].partition_responses[0].error_code)

    async def settle(self) -> None:
        """Wait until no end is on its way."""
        while self.tasks:
            await asyncio.gather(*self.tasks)

    def end_offset(self, partition: int = 0) -> int:
        return self.house.replica("orders", partition).log.log_end_offset

    def stable_offset(self, partition: int = 0) -> int:
        return self.house.replica("orders", partition).log.last_stable_offset

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self.tasks.append(task)
        task.add_done_callback(self.tasks.remove)
        return task


def batch_of(
    producer: ProducerId, sequence: int, count: int = 1, *, transactional: bool = True
) -> bytearray:
    return encode_batch(
        [Record(index, NOW_MS, b"k", b"v") for index in range(count)],
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        base_sequence=sequence,
        is_transactional=transactional,
    )


def produce_request(
    name: str | None, topic: str, batches: dict[int, bytes], *, acks: int = -1
) -> producing.ProduceRequest:
    return producing.ProduceRequest(
        transactional_id=name,
        acks=acks,
        timeout_ms=1000,
        topic_data=[
            producing.TopicProduceData(
                name=topic,
                partition_data=[
                    producing.PartitionProduceData(index=index, records=batch)
                    for index, batch in batches.items()
                ],
            )
        ],
    )


def add_request(
    name: str, producer: ProducerId, *places: tuple[str, int]
) -> adding.AddPartitionsToTxnRequest:
    """As producers ask, up to version 3."""
    by_topic: dict[str, list[int]] = {}
    for topic, partition in places:
        by_topic.setdefault(topic, []).append(partition)
    return adding.AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=name,
        v3_and_below_producer_id=producer.producer_id,
        v3_and_below_producer_epoch=producer.epoch,
        v3_and_below_topics=[
            adding.AddPartitionsToTxnTopic(name=topic, partitions=indexes)
            for topic, indexes in by_topic.items()
        ],
    )
