from __future__ import annotations

import pytest
from tests.clients.peer import Peer, metadata, network

from quire.clients.cluster import Cluster
from quire.clients.errors import AnswerError
from quire.clients.offsets import EARLIEST, LATEST, READ_COMMITTED, leaders_of, offsets_at
from quire.ports.network import Address
from quire.protocol.apis import ApiKey
from quire.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from quire.sim import loop

ONE, TWO = Address("one", 9092), Address("two", 9092)
LEADERS = {0: 1, 1: 2, 2: 1}


def answering(offsets: dict[int, int], error: int = 0):
    def answer(request, _version):
        return ListOffsetsResponse(
            topics=[
                ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=[
                        ListOffsetsPartitionResponse(
                            partition_index=one.partition_index,
                            error_code=error,
                            offset=offsets[one.timestamp] + one.partition_index,
                        )
                        for one in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )

    return answer


def test_each_leader_is_asked_for_its_own_partitions() -> None:
    async def scene() -> None:
        world = network()
        scripts = {
            ApiKey.METADATA: metadata({1: ONE, 2: TWO}, {"t": LEADERS}),
            ApiKey.LIST_OFFSETS: answering({LATEST: 100, EARLIEST: 10}),
        }
        peers = [Peer(world, ONE, scripts), Peer(world, TWO, scripts)]
        async with Cluster(world.machine("client"), [ONE]) as cluster:
            topic = await cluster.topic("t")
            assert leaders_of(topic) == LEADERS
            wanted = {0: LATEST, 1: LATEST, 2: EARLIEST}
            found = await offsets_at(cluster, topic, wanted, isolation=READ_COMMITTED)
            assert found == {0: 100, 1: 101, 2: 12}
        questions = [
            [body for _, body in peer.asked if hasattr(body, "replica_id")] for peer in peers
        ]
        assert [len(one) for one in questions] == [1, 1]
        assert all(body.isolation_level == 1 for one in questions for body in one)

    loop.run(scene)


def test_a_partition_that_answers_with_an_error_is_named() -> None:
    async def scene() -> None:
        world = network()
        scripts = {
            ApiKey.METADATA: metadata({1: ONE}, {"t": {4: 1}}),
            ApiKey.LIST_OFFSETS: answering({LATEST: 0}, error=6),
        }
        Peer(world, ONE, scripts)
        async with Cluster(world.machine("client"), [ONE]) as cluster:
            with pytest.raises(AnswerError, match="offsets of t-4: NOT_LEADER_OR_FOLLOWER"):
                await offsets_at(cluster, await cluster.topic("t"), {4: LATEST})

    loop.run(scene)
