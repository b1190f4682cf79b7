from __future__ import annotations

from typing import Any, cast

import pytest
from tests.clients.peer import Peer, metadata, network

from quire.clients.cluster import Cluster
from quire.clients.errors import AnswerError, UnreachableError
from quire.errors import ErrorCode
from quire.ports.network import Address
from quire.protocol.apis import ApiKey
from quire.protocol.messages.metadata import MetadataRequest
from quire.sim import loop

ONE, TWO, NOBODY = Address("one", 9092), Address("two", 9092), Address("nobody", 1)
BROKERS = {1: ONE, 2: TWO}


def test_the_first_address_that_answers_is_enough_to_know_the_cluster() -> None:
    async def scene() -> None:
        world = network()
        Peer(world, TWO, {ApiKey.METADATA: metadata(BROKERS, {})})
        async with Cluster(world.machine("client"), [NOBODY, TWO]) as cluster:
            assert cluster.brokers == BROKERS
            assert cluster.cluster_id == "a cluster"

    loop.run(scene)


def test_when_nobody_answers_every_address_is_named_with_its_reason() -> None:
    async def scene() -> None:
        with pytest.raises(UnreachableError, match=r"nobody:1.*two:9092"):
            await Cluster(network().machine("client"), [NOBODY, TWO]).refresh()

    loop.run(scene)


def test_a_question_for_one_broker_goes_there_over_one_connection() -> None:
    async def scene() -> None:
        world = network()
        script = {ApiKey.METADATA: metadata(BROKERS, {"t": {0: 2}})}
        Peer(world, ONE, script)
        two = Peer(world, TWO, script)
        async with Cluster(world.machine("client"), [ONE]) as cluster:
            for _ in range(3):
                await cluster.ask(MetadataRequest(topics=[]), node_id=2)
            assert len(two.streams) == 1
            two.streams[0].abort()
            await cluster.broker(1)
            await cluster.ask(MetadataRequest(topics=[]), node_id=2)
            assert len(two.streams) == 2
            with pytest.raises(UnreachableError, match="broker 9"):
                await cluster.ask(MetadataRequest(topics=[]), node_id=9)

    loop.run(scene)


def test_a_topic_that_is_not_there_is_an_error_at_once_unless_it_is_being_made() -> None:
    async def scene() -> None:
        world = network()
        peer = Peer(world, ONE, {ApiKey.METADATA: metadata(BROKERS, {})})
        async with Cluster(world.machine("client"), [ONE]) as cluster:
            asked = len(peer.asked)
            with pytest.raises(AnswerError) as caught:
                await cluster.topic("t")
            assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            assert len(peer.asked) == asked + 1
            with pytest.raises(AnswerError):
                await cluster.topic("t", create=True)
            assert len(peer.asked) > asked + 10

    loop.run(scene)


def test_an_election_that_ends_in_time_is_waited_for() -> None:
    async def scene() -> None:
        world = network()
        peer = Peer(world, ONE, {ApiKey.METADATA: metadata(BROKERS, {"t": {0: -1}})})
        async with Cluster(world.machine("client"), [ONE]) as cluster:
            answers = [metadata(BROKERS, {"t": {0: -1}})] * 5 + [metadata(BROKERS, {"t": {0: 1}})]
            peer.scripts[ApiKey.METADATA] = lambda *asked: answers.pop(0)(*asked)
            assert (await cluster.topic("t")).partitions[0].leader_id == 1
            assert not answers

    loop.run(scene)


def test_a_cluster_needs_an_address() -> None:
    with pytest.raises(ValueError, match="at least one address"):
        Cluster(network().machine("client"), [])


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ConnectionRefusedError(111, "Connect call failed ('one', 9092)"), "Connection refused"),
        (OSError(-2, "Name or service not known: one:9092"), "Name or service not known"),
        (OSError("odd"), "odd"),
        (TimeoutError(), "did not answer"),
    ],
)
def test_a_failure_is_told_in_the_systems_words_and_names_the_address_once(
    error: OSError, text: str
) -> None:
    class Refusing:
        async def connect(self, _address: Address, _accept: object) -> None:
            raise error

    async def scene() -> None:
        with pytest.raises(UnreachableError) as failed:
            await Cluster(cast("Any", Refusing()), [ONE]).any()
        assert str(failed.value) in (f"one:9092: {text}", f"one:9092 {text}")

    loop.run(scene)
