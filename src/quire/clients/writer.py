"""Writing records by hand: which partition they go to, and one request per leader.

    writer = Writer(cluster, await cluster.topic("orders"), entropy)
    await writer.write([Unsent(b"key", b"value")])

Invariants
  I1  A key always goes to the same partition of as many partitions: the Java client's murmur2.
  I2  Records without a key and a partition go together to one partition a call, drawn anew for the next one.
  I3  When `write` returns, every record has the acknowledgement that was asked for; else AnswerError says which
      partition failed first.
Not here   accumulation over time, idempotence, transactions, retries (producer).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from quire.clients.cluster import Cluster
from quire.clients.errors import AnswerError, expect
from quire.clients.offsets import leaders_of
from quire.errors import ErrorCode
from quire.ports.entropy import Entropy
from quire.protocol.messages.metadata import MetadataResponseTopic
from quire.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from quire.records.batch import encode_batch
from quire.records.compression import Compression
from quire.records.partitioner import partition_for_key
from quire.records.record import Headers, Record

ALL = -1
BATCH_BYTES = 512 << 10
"""Below the default of max.message.bytes, so that a batch of small records is never refused."""


class Unsent(NamedTuple):
    """A record on its way."""

    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    timestamp: int | None = None
    partition: int | None = None


class Written(NamedTuple):
    """Where a batch went."""

    partition: int
    base_offset: int
    records: int


class Writer:
    """See the module."""

    def __init__(
        self,
        cluster: Cluster,
        topic: MetadataResponseTopic,
        entropy: Entropy,
        *,
        acks: int = ALL,
        compression: Compression = Compression.NONE,
        timeout_ms: int = 30_000,
    ) -> None:
        self._cluster = cluster
        self._topic = topic
        self._entropy = entropy
        self._acks = acks
        self._compression = compression
        self._timeout_ms = timeout_ms

    async def write(self, unsent: Sequence[Unsent], *, now_ms: int) -> list[Written]:
        """Write them all; `now_ms` is the timestamp of those that have none."""
        written: list[Written] = []
        by_partition = self._placed(unsent)
        while by_partition:
            written += await self._write_one_each(by_partition, now_ms)
        return written

    def _placed(self, unsent: Sequence[Unsent]) -> dict[int, list[Unsent]]:
        leaders = leaders_of(self._topic)
        count = len(leaders)
        sticky = self._entropy.below(count)
        placed: dict[int, list[Unsent]] = {}
        for one in unsent:
            partition = one.partition
            if partition is None:
                partition = sticky if one.key is None else partition_for_key(one.key, count)
            elif partition not in leaders:
                raise AnswerError(
                    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{self._topic.name}-{partition}"
                )
            placed.setdefault(partition, []).append(one)
        return placed

    async def _write_one_each(
        self, by_partition: dict[int, list[Unsent]], now_ms: int
    ) -> list[Written]:
        """One batch of each partition, taken off its list; a produce request has no more."""
        leaders = leaders_of(self._topic)
        requests: dict[int, list[PartitionProduceData]] = {}
        counts: dict[int, int] = {}
        for partition in sorted(by_partition):
            batch = _taken_off(by_partition[partition])
            if not by_partition[partition]:
                del by_partition[partition]
            counts[partition] = len(batch)
            leader = leaders.get(partition, -1)
            data = PartitionProduceData(index=partition, records=self._encoded(batch, now_ms))
            requests.setdefault(leader, []).append(data)
        answers = await asyncio.gather(
            *(self._send(leader, data) for leader, data in requests.items())
        )
        written = []
        for answer in answers:
            for one in answer.responses[0].partition_responses if answer else ():
                expect(one.error_code, f"{self._topic.name}-{one.index}", one.error_message)
                written.append(Written(one.index, one.base_offset, counts[one.index]))
        return written

    def _encoded(self, batch: Sequence[Unsent], now_ms: int) -> bytearray:
        records = [
            Record(
                number,
                now_ms if one.timestamp is None else one.timestamp,
                one.key,
                one.value,
                one.headers,
            )
            for number, one in enumerate(batch)
        ]
        return encode_batch(records, compression=self._compression)

    async def _send(self, leader: int, data: list[PartitionProduceData]) -> ProduceResponse | None:
        name = self._topic.name or ""
        request = ProduceRequest(
            acks=self._acks,
            timeout_ms=self._timeout_ms,
            topic_data=[
                TopicProduceData(name=name, topic_id=self._topic.topic_id, partition_data=data)
            ],
        )
        connection = await self._cluster.broker(leader)
        if not self._acks:
            connection.tell(request)
            return None
        answer: ProduceResponse = await connection.ask(request)
        return answer


def _taken_off(unsent: list[Unsent]) -> list[Unsent]:
    """As many from the front as fit into one batch; one at least."""
    size = 0
    for count, one in enumerate(unsent):
        size += 32 + len(one.key or b"") + len(one.value or b"")
        size += sum(16 + len(name) + len(value or b"") for name, value in one.headers)
        if count and size > BATCH_BYTES:
            break
    else:
        count = len(unsent)
    batch, unsent[:] = unsent[:count], unsent[count:]
    return batch
