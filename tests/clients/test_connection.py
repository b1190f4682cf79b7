from __future__ import annotations

import asyncio

import pytest
from tests.clients.peer import Peer, metadata, network, versions

from quire.clients.connection import Connection
from quire.clients.errors import DisconnectedError, NotSpokenError
from quire.ports.network import Address
from quire.protocol.apis import ApiKey
from quire.protocol.messages.fetch import FetchRequest
from quire.protocol.messages.list_groups import ListGroupsRequest
from quire.protocol.messages.metadata import MetadataRequest
from quire.sim import loop

NODE = Address("node", 9092)


def test_a_question_is_asked_at_the_highest_version_that_both_sides_speak() -> None:
    async def scene() -> None:
        world = network()
        peer = Peer(
            world,
            NODE,
            {
                ApiKey.API_VERSIONS: lambda *_: versions(Metadata=7),
                ApiKey.METADATA: metadata({1: NODE}, {}),
            },
        )
        connection = await Connection.open(world.machine("client"), NODE)
        answer = await connection.ask(MetadataRequest(topics=None))
        assert answer.brokers[0].host == "node"
        assert peer.asked[-1][0] == 7

    loop.run(scene)


def test_a_node_that_refuses_our_version_of_api_versions_is_asked_at_its_own() -> None:
    async def scene() -> None:
        world = network()
        peer = Peer(world, NODE, {})
        peer.newest_api_versions = 2
        connection = await Connection.open(world.machine("client"), NODE)
        assert peer.asked[0][0] <= 4
        assert connection.version_of(MetadataRequest) == 13

    # The scripted refusal names 0 to 4, as ours does; asked again at 4 it is refused again.
    with pytest.raises(NotSpokenError, match="refused ApiVersions"):
        loop.run(scene)


def test_what_the_other_side_does_not_speak_is_not_sent() -> None:
    async def scene() -> None:
        world = network()
        peer = Peer(world, NODE, {ApiKey.API_VERSIONS: lambda *_: versions(ListGroups=-1, Fetch=3)})
        connection = await Connection.open(world.machine("client"), NODE)
        for request in (ListGroupsRequest(), FetchRequest(max_wait_ms=0, min_bytes=0, topics=[])):
            assert not connection.speaks(type(request))
            with pytest.raises(NotSpokenError):
                await connection.ask(request)
        assert len(peer.asked) == 1

    loop.run(scene)


def test_an_answer_that_does_not_come_in_time_ends_the_connection() -> None:
    async def scene() -> None:
        world = network()
        Peer(world, NODE, {ApiKey.METADATA: lambda *_: None})
        connection = await Connection.open(world.machine("client"), NODE)
        with pytest.raises(TimeoutError, match="MetadataRequest within 5 s"):
            await connection.ask(MetadataRequest(topics=None), timeout_seconds=5)
        await asyncio.sleep(1)
        assert not connection.is_open
        with pytest.raises(DisconnectedError):
            await connection.ask(MetadataRequest(topics=None))

    loop.run(scene)


def test_a_lost_connection_ends_every_question() -> None:
    async def scene() -> None:
        world = network()
        peer = Peer(world, NODE, {ApiKey.METADATA: lambda *_: None})
        connection = await Connection.open(world.machine("client"), NODE)
        questions = [
            asyncio.ensure_future(connection.ask(MetadataRequest(topics=None))) for _ in range(3)
        ]
        await asyncio.sleep(1)
        peer.streams[0].abort()
        outcomes = await asyncio.gather(*questions, return_exceptions=True)
        assert [type(one) for one in outcomes] == [DisconnectedError] * 3

    loop.run(scene)


def test_nobody_there_is_an_error_of_the_network() -> None:
    async def scene() -> None:
        with pytest.raises(ConnectionRefusedError):
            await Connection.open(network().machine("client"), NODE)

    loop.run(scene)
