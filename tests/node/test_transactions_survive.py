"""Transactions on a node that is struck, killed and loses power: all or nothing, in every world.

Two producers write each of their transactions to two partitions and end it. What they were told must hold for readers
of committed data: committed is in both partitions once, aborted in none, and what nobody could tell them is in both or
in none.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.node.scene import CLUSTER_ID, SETTINGS

from quire.clients.cluster import Cluster
from quire.clients.errors import AnswerError, ClientError
from quire.errors import ErrorCode, QuireError
from quire.node.format import Formatting, format_directories
from quire.protocol.messages import create_topics as creating
from quire.protocol.messages import fetch as fetching
from quire.protocol.messages import find_coordinator as finding
from quire.protocol.messages import produce as producing
from quire.protocol.messages.end_txn import EndTxnRequest
from quire.protocol.messages.init_producer_id import InitProducerIdRequest
from quire.records.batch import decode_records, encode_batch, iterate_headers
from quire.records.record import Record
from quire.sim.entropy import SeededEntropy
from quire.sim.history import History
from quire.sim.life import Life
from quire.sim.loop import run
from quire.sim.machine import Machine
from quire.sim.network import SimNetwork
from quire.sim.trace import Trace
from quire.transactions.transaction import ProducerId

TOPICS = ("left", "right")
PASSING = (OSError, TimeoutError, ClientError)
TRANSACTIONS_EACH = 25
ANSWER_SECONDS = 3.0
CONVERGED_SECONDS = 300.0
"""Everything comes to its end, however often it is struck."""
READ_COMMITTED = 1


@dataclass
class Told:
    """What producers know of their transactions."""

    committed: list[str] = field(default_factory=list)
    aborted: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


class StartOverError(Exception):
    """The producer cannot go on as it is."""


class Producer:
    """One that bumps its epoch with every transaction, and never gives up."""

    def __init__(self, name: str, world: Scene, told: Told) -> None:
        self.name = name
        self._world = world
        self._told = told
        self._entropy = world.entropy.stream(name)
        self._me = ProducerId(-1, -1)

    async def run(self) -> None:
        await self._begin()
        for number in range(TRANSACTIONS_EACH):
            await self._transact(f"{self.name}/{number}", committed=not self._entropy.one_in(3))
            await asyncio.sleep(self._entropy.below(400) / 1000)

    async def _transact(self, value: str, *, committed: bool) -> None:
        may_be_committed = False
        try:
            for topic in TOPICS:
                await self._produce(topic, value)
            may_be_committed = committed
            await self._end(committed=committed)
        except StartOverError:
            (self._told.unknown if may_be_committed else self._told.aborted).append(value)
            await self._begin()
        else:
            (self._told.committed if committed else self._told.aborted).append(value)

    async def _produce(self, topic: str, value: str) -> None:
        while True:
            try:
                async with self._world.cluster(self.name) as cluster:
                    found = await cluster.topic(topic)
                    answer = await cluster.ask(
                        self._batch(topic, found.topic_id, value), timeout_seconds=ANSWER_SECONDS
                    )
            except PASSING:
                await asyncio.sleep(0.2)
                continue
            told = answer.responses[0].partition_responses[0]
            if self._is_done(ErrorCode.of(told.error_code)):
                return
            await asyncio.sleep(0.1)

    async def _end(self, *, committed: bool) -> None:
        request = EndTxnRequest(
            transactional_id=self.name,
            producer_id=self._me.producer_id,
            producer_epoch=self._me.epoch,
            committed=committed,
        )
        while True:
            answer = await self._ask(request)
            if answer is not None and self._is_done(ErrorCode.of(answer.error_code)):
                self._me = ProducerId(answer.producer_id, answer.producer_epoch)
                return
            await asyncio.sleep(0.1)

    async def _begin(self) -> None:
        request = InitProducerIdRequest(transactional_id=self.name, transaction_timeout_ms=20_000)
        while True:
            answer = await self._ask(request)
            if answer is not None and answer.error_code == ErrorCode.NONE:
                self._me = ProducerId(answer.producer_id, answer.producer_epoch)
                return
            await asyncio.sleep(0.1)

    async def _ask(self, request: Any) -> Any:
        """The coordinator's answer; None when there was none."""
        find = finding.FindCoordinatorRequest(key_type=1, coordinator_keys=[self.name])
        try:
            async with self._world.cluster(self.name) as cluster:
                found = (await cluster.ask(find)).coordinators[0]
                if found.error_code != ErrorCode.NONE:
                    return None
                return await cluster.ask(request, timeout_seconds=ANSWER_SECONDS)
        except PASSING:
            return None

    def _is_done(self, code: ErrorCode) -> bool:
        if code is ErrorCode.NONE:
            return True
        if code.retriable or code in (
            ErrorCode.UNKNOWN_SERVER_ERROR,
            ErrorCode.KAFKA_STORAGE_ERROR,
        ):
            return False
        raise StartOverError(code.name)

    def _batch(self, topic: str, topic_id: bytes, value: str) -> producing.ProduceRequest:
        batch = encode_batch(
            [Record(0, 1_700_000_000_000, None, value.encode())],
            producer_id=self._me.producer_id,
            producer_epoch=self._me.epoch,
            base_sequence=0,
            is_transactional=True,
        )
        data = producing.PartitionProduceData(index=0, records=bytes(batch))
        return producing.ProduceRequest(
            transactional_id=self.name,
            acks=-1,
            timeout_ms=2000,
            topic_data=[
                producing.TopicProduceData(name=topic, topic_id=topic_id, partition_data=[data])
            ],
        )


class Scene:
    """One world."""

    def __init__(self, seed: int, *, loses_power: bool) -> None:
        loop = asyncio.get_running_loop()
        self.entropy = SeededEntropy(seed)
        network = SimNetwork(self.entropy, delay_ms=(0, 5))
        trace = Trace(loop)
        machine = Machine("b1", loop, network, trace, self.entropy)
        settings = {
            **SETTINGS,
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "2",
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": "2000",
            "quire.log.fsync.before.ack": str(loses_power).lower(),
        }
        self.life = Life(machine, settings, trace, History())
        self._loses_power = loses_power
        self._network = network.machine("clients")
        format_directories(
            machine.disk,
            settings,
            Formatting(cluster_id=CLUSTER_ID, standalone=True),
            entropy=self.entropy.stream("format"),
            now_ms=machine.clock.wall_ms(),
        )
        loop.set_exception_handler(self._on_error)
        self.unheard: list[Any] = []

    def _on_error(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not self.life.on_loop_error(context.get("exception")):
            self.unheard.append(context)

    def cluster(self, client_id: str) -> Cluster:
        return Cluster(self._network, [self.life.address()], client_id=client_id)

    async def play(self) -> None:
        living = asyncio.ensure_future(self.life.run())
        told = Told()
        for topic in TOPICS:
            await self._create(topic)
        producers = [Producer(name, self, told) for name in ("one", "two")]
        working = asyncio.gather(*(one.run() for one in producers))
        strikes = self.entropy.stream("strikes")
        while not working.done():
            await asyncio.wait({working}, timeout=0.3 + strikes.below(2000) / 1000)
            if not working.done():
                await self._strike(strikes)
        await working
        await asyncio.sleep(10)  # what was decided is carried out
        found = {topic: await self._committed(topic) for topic in TOPICS}
        judge(told, found)
        if self.life.node is not None:
            self.life.node.check()
        await self.life.end()
        await living
        assert self.unheard == []
        assert self.life.deaths > 2

    async def _strike(self, strikes: SeededEntropy) -> None:
        if strikes.one_in(4):
            await self.life.restart_cleanly()
        elif strikes.one_in(2):
            self.life.kill(loses_power=self._loses_power)
        else:
            self.life.strike(after_operations=1 + strikes.below(12), loses_power=self._loses_power)

    async def _create(self, name: str) -> None:
        wanted = creating.CreatableTopic(
            name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]
        )
        while True:
            try:
                async with self.cluster("admin") as cluster:
                    answer = await cluster.ask(creating.CreateTopicsRequest(topics=[wanted]))
            except PASSING:
                await asyncio.sleep(0.2)
                continue
            code = ErrorCode.of(answer.topics[0].error_code)
            if code in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                return
            if not code.retriable:
                raise AnswerError(code, name)

    async def _committed(self, topic: str) -> list[str]:
        """What readers of committed data are given of a partition, to its very end."""
        values: list[str] = []
        offset = 0
        aborted: dict[int, list[int]] = {}
        while True:
            try:
                async with self.cluster("reader") as cluster:
                    topic_id = (await cluster.topic(topic)).topic_id
                    answer = await cluster.ask(_fetch(topic_id, offset))
            except PASSING:
                await asyncio.sleep(0.2)
                continue
            found = answer.responses[0].partitions[0]
            assert found.error_code == ErrorCode.NONE
            if not found.records:
                if offset == found.high_watermark:
                    return values
                assert offset == found.last_stable_offset
                raise QuireError(f"{topic} stays unstable at {offset} of {found.high_watermark}")
            starts = {(one.producer_id, one.first_offset) for one in found.aborted_transactions}
            for producer_id, first in sorted(starts):
                if first not in aborted.setdefault(producer_id, []):
                    aborted[producer_id].append(first)
            content = bytes(found.records)
            for at, header in iterate_headers(content):
                records = decode_records(content, at, header)
                offset = header.next_offset
                open_aborts = aborted.get(header.producer_id, [])
                if header.is_control:
                    aborted[header.producer_id] = [
                        one for one in open_aborts if one > header.base_offset
                    ]
                elif not any(one <= header.base_offset for one in open_aborts):
                    values += [(record.value or b"").decode() for record in records]


def _fetch(topic_id: bytes, offset: int) -> fetching.FetchRequest:
    wanted = fetching.FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    return fetching.FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        isolation_level=READ_COMMITTED,
        session_epoch=-1,
        topics=[fetching.FetchTopic(topic_id=topic_id, partitions=[wanted])],
    )


def judge(told: Told, found: dict[str, list[str]]) -> None:
    """The law."""
    for values in found.values():
        assert [value for value, times in Counter(values).items() if times > 1] == []
        assert set(told.committed) <= set(values), "what was committed is there"
        assert set(told.aborted) & set(values) == set(), "what was aborted is not"
    left, right = (set(values) for values in found.values())
    assert left == right, "all or nothing"
    assert left <= {*told.committed, *told.unknown}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loses_power", [False, True])
def test_all_or_nothing_whatever_strikes(seed: int, loses_power: bool) -> None:
    async def main() -> None:
        async with asyncio.timeout(CONVERGED_SECONDS):
            await Scene(seed, loses_power=loses_power).play()

    run(main)
