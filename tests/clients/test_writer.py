from __future__ import annotations

from collections import Counter

import pytest
from tests.clients.peer import Peer, metadata, network

from quire.clients.cluster import Cluster
from quire.clients.errors import AnswerError
from quire.clients.writer import BATCH_BYTES, Unsent, Writer, Written
from quire.ports.network import Address
from quire.protocol.apis import ApiKey
from quire.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from quire.records.batch import decode_batch, read_header
from quire.records.compression import Compression
from quire.records.partitioner import partition_for_key
from quire.sim import loop
from quire.sim.entropy import SeededEntropy

ONE, TWO = Address("one", 9092), Address("two", 9092)
LEADERS = {0: 1, 1: 2, 2: 1}


class Log:
    """What arrived at the leaders: partition -> batches."""

    def __init__(self, error: int = 0) -> None:
        self.batches: dict[int, list[bytes]] = {}
        self.error = error

    def produce(self, request, _version):
        topic = request.topic_data[0]
        for one in topic.partition_data:
            self.batches.setdefault(one.index, []).append(bytes(one.records))
        if not request.acks:
            return None
        return ProduceResponse(
            responses=[
                TopicProduceResponse(
                    name=topic.name,
                    topic_id=topic.topic_id,
                    partition_responses=[
                        PartitionProduceResponse(
                            index=one.index, error_code=self.error, base_offset=70 + one.index
                        )
                        for one in topic.partition_data
                    ],
                )
            ]
        )


def write(log: Log, unsent: list[Unsent], **options) -> list[Written]:
    async def scene() -> list[Written]:
        world = network()
        scripts = {
            ApiKey.METADATA: metadata({1: ONE, 2: TWO}, {"t": LEADERS}),
            ApiKey.PRODUCE: log.produce,
        }
        Peer(world, ONE, scripts)
        Peer(world, TWO, scripts)
        async with Cluster(world.machine("client"), [ONE]) as cluster:
            writer = Writer(cluster, await cluster.topic("t"), SeededEntropy(3), **options)
            return await writer.write(unsent, now_ms=1234)

    written: list[Written] = loop.run(scene)
    return written


def values(log: Log) -> dict[int, list[bytes | None]]:
    return {
        partition: [record.value for batch in batches for record in decode_batch(batch)]
        for partition, batches in log.batches.items()
    }


def test_a_key_decides_the_partition_and_its_order_is_kept() -> None:
    log = Log()
    write(log, [Unsent(b"k%d" % (n % 7), b"%d" % n) for n in range(100)])
    for partition, found in values(log).items():
        assert found == [
            b"%d" % n for n in range(100) if partition_for_key(b"k%d" % (n % 7), 3) == partition
        ]


def test_records_without_a_key_go_together_and_named_partitions_are_obeyed() -> None:
    log = Log()
    written = write(log, [Unsent(None, b"a"), Unsent(None, b"b")])
    assert [one.records for one in written] == [2]
    log = Log()
    assert write(log, [Unsent(None, b"x", partition=1)]) == [Written(1, 71, 1)]
    with pytest.raises(AnswerError, match="t-7"):
        write(Log(), [Unsent(None, b"x", partition=7)])


def test_headers_nulls_timestamps_and_compression_arrive_as_given() -> None:
    log = Log()
    given = [
        Unsent(None, None, (("h", b"1"), ("n", None)), 77, 0),
        Unsent(b"", b"", (), None, 0),
    ]
    write(log, given, compression=Compression.ZSTD)
    batch = log.batches[0][0]
    assert read_header(batch).compression is Compression.ZSTD
    assert [tuple(record)[1:] for record in decode_batch(batch)] == [
        (77, None, None, (("h", b"1"), ("n", None))),
        (1234, b"", b"", ()),
    ]


def test_more_than_a_batch_holds_becomes_several_batches() -> None:
    log = Log()
    written = write(log, [Unsent(None, bytes(BATCH_BYTES // 3), partition=0)] * 7)
    assert Counter(one.partition for one in written) == {0: 4}
    assert sum(one.records for one in written) == 7
    assert max(map(len, log.batches[0])) <= BATCH_BYTES
    one_large = write(Log(), [Unsent(None, bytes(2 * BATCH_BYTES), partition=0)])
    assert [one.records for one in one_large] == [1]


def test_a_refusal_names_the_partition() -> None:
    with pytest.raises(AnswerError, match="t-2: MESSAGE_TOO_LARGE"):
        write(Log(error=10), [Unsent(None, b"x", partition=2)])


def test_without_acknowledgement_nobody_waits() -> None:
    assert write(Log(), [Unsent(None, b"x", partition=2)], acks=0) == []
