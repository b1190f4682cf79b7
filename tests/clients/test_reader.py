from __future__ import annotations

import pytest
from tests.clients.peer import Peer, metadata, network

from quire.clients.cluster import Cluster
from quire.clients.errors import AnswerError
from quire.clients.offsets import READ_COMMITTED, READ_UNCOMMITTED
from quire.clients.reader import Fetched, Reader
from quire.errors import CorruptBatchError
from quire.ports.network import Address
from quire.protocol.apis import ApiKey
from quire.protocol.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from quire.protocol.messages.metadata import MetadataRequest
from quire.records.batch import encode_batch
from quire.records.control import ControlType, encode_end_transaction_marker
from quire.records.record import Record
from quire.sim import loop

ONE = Address("one", 9092)


def batch(base: int, values: list[str], producer: int = -1) -> bytearray:
    records = [Record(base + n, 5, None, value.encode()) for n, value in enumerate(values)]
    extra = (
        {"producer_id": producer, "producer_epoch": 0, "base_sequence": 0} if producer >= 0 else {}
    )
    return encode_batch(records, base_offset=base, is_transactional=producer >= 0, **extra)


def marker(base: int, producer: int, kind: ControlType) -> bytearray:
    return encode_end_transaction_marker(
        kind,
        coordinator_epoch=0,
        producer_id=producer,
        producer_epoch=0,
        timestamp=5,
        base_offset=base,
    )


def fetching(records: bytes, aborted: list[tuple[int, int]] | None = None, error: int = 0):
    def answer(request, _version):
        return FetchResponse(
            throttle_time_ms=0,
            session_id=0,
            responses=[
                FetchableTopicResponse(
                    topic=topic.topic,
                    topic_id=topic.topic_id,
                    partitions=[
                        PartitionData(
                            partition_index=one.partition,
                            error_code=error,
                            high_watermark=99,
                            aborted_transactions=None
                            if aborted is None
                            else [
                                AbortedTransaction(producer_id=p, first_offset=o)
                                for p, o in aborted
                            ],
                            records=bytes(records),
                        )
                        for one in topic.partitions
                    ],
                )
                for topic in request.topics
            ],
        )

    return answer


def fetch(script, offset: int, isolation: int = READ_UNCOMMITTED) -> list[Fetched]:
    async def scene() -> list[Fetched]:
        world = network()
        Peer(world, ONE, {ApiKey.METADATA: metadata({1: ONE}, {"t": {0: 1}}), ApiKey.FETCH: script})
        async with Cluster(world.machine("client"), [ONE]) as cluster:
            reader = Reader(cluster, await cluster.topic("t"), isolation=isolation)
            return await reader.fetch({0: offset})

    found: list[Fetched] = loop.run(scene)
    return found


def test_records_below_the_position_are_left_out_though_their_batch_came_along() -> None:
    found = fetch(fetching(batch(10, ["a", "b", "c"]) + batch(13, ["d"])), 11)[0]
    assert [(r.offset, r.value) for r in found.records] == [(11, b"b"), (12, b"c"), (13, b"d")]
    assert (found.next_offset, found.high_watermark) == (14, 99)


def test_a_batch_that_was_cut_off_at_the_end_waits_for_the_next_fetch() -> None:
    found = fetch(fetching(batch(0, ["a"]) + batch(1, ["b"])[:-1]), 0)[0]
    assert [r.value for r in found.records] == [b"a"]
    assert found.next_offset == 1


ELEVEN = (
    batch(0, ["one"], producer=1)
    + batch(1, ["gone"], producer=2)
    + batch(2, ["plain"])
    + marker(3, 2, ControlType.ABORT)
    + marker(4, 1, ControlType.COMMIT)
    + batch(5, ["again"], producer=2)
    + marker(6, 2, ControlType.COMMIT)
)


def test_of_aborted_transactions_nothing_is_given_and_markers_are_never_given() -> None:
    found = fetch(fetching(ELEVEN, aborted=[(2, 1)]), 0, READ_COMMITTED)[0]
    assert [r.value for r in found.records] == [b"one", b"plain", b"again"]
    assert found.next_offset == 7


def test_without_isolation_everything_but_the_markers_is_given() -> None:
    found = fetch(fetching(ELEVEN), 0)[0]
    assert [r.value for r in found.records] == [b"one", b"gone", b"plain", b"again"]


def test_a_wrong_checksum_is_an_error_and_no_record() -> None:
    broken = bytearray(batch(0, ["a"]))
    broken[-1] ^= 1
    with pytest.raises(CorruptBatchError, match=r"t-0.*offset 0"):
        fetch(fetching(broken), 0)


def test_an_offset_that_is_not_there_is_an_error_with_its_code() -> None:
    with pytest.raises(AnswerError, match="t-0: OFFSET_OUT_OF_RANGE"):
        fetch(fetching(b"", error=1), 5)


def test_a_leader_that_moved_is_looked_up_again() -> None:
    async def scene() -> None:
        world = network()
        scripts = [fetching(b"", error=6), fetching(batch(0, ["a"]))]
        peer = Peer(
            world,
            ONE,
            {
                ApiKey.METADATA: metadata({1: ONE}, {"t": {0: 1}}),
                ApiKey.FETCH: lambda *asked: scripts.pop(0)(*asked),
            },
        )
        async with Cluster(world.machine("client"), [ONE]) as cluster:
            reader = Reader(cluster, await cluster.topic("t"))
            assert await reader.fetch({0: 0}) == []
            assert isinstance(peer.asked[-1][1], MetadataRequest)
            assert [r.value for r in (await reader.fetch({0: 0}))[0].records] == [b"a"]

    loop.run(scene)
