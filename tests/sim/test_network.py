from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import copy_context

import pytest
from tests.ports.conversations import CONVERSATIONS, Ear, World, connected

from quire.ports.network import Address, Stream
from quire.sim import loop
from quire.sim.disk import SimDisk
from quire.sim.entropy import SeededEntropy
from quire.sim.network import SimNetwork

SERVER = Address("server", 0)


def world_of(seed: int) -> tuple[SimNetwork, World]:
    disk = SimDisk(seed)
    file = disk.open("/file", create=True)
    file.write(0, [bytes(range(256)) * 2000])
    network = SimNetwork(SeededEntropy(seed))
    return network, World(network.machine("server"), network.machine("client"), SERVER, file)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.__name__)
def test_the_simulated_network_keeps_the_same_promises(
    conversation: Callable[[World], Awaitable[None]], seed: int
) -> None:
    _, world = world_of(seed)
    loop.run(lambda: conversation(world))


def test_a_cut_link_holds_bytes_until_it_is_repaired() -> None:
    network, world = world_of(1)

    async def scene() -> None:
        client, server = await connected(world)
        network.cut("client", "server")
        client.stream.send([b"question"])
        server.stream.send([b"the other way is open"])
        await client.until(lambda: bool(client.heard))
        await asyncio.sleep(60)
        assert not server.heard
        network.repair("client", "server")
        await server.until(lambda: server.heard == b"question")

    loop.run(scene)


def test_a_cut_link_lets_connection_attempts_time_out() -> None:
    network, world = world_of(1)

    async def scene() -> float:
        listening = world.server.listen(SERVER, Ear)
        network.cut("server", "client")
        start = asyncio.get_running_loop().time()
        with pytest.raises(TimeoutError):
            await world.client.connect(listening.address, Ear)
        return asyncio.get_running_loop().time() - start

    assert loop.run(scene) >= 20


def test_a_reset_breaks_both_ends_and_loses_what_was_on_the_way() -> None:
    network, world = world_of(1)

    async def scene() -> None:
        client, server = await connected(world)
        client.stream.send([b"lost"])
        network.reset_all("server")
        for ear in (client, server):
            assert isinstance(await ear.ended, ConnectionResetError)
        await asyncio.sleep(1)
        assert not server.heard

    loop.run(scene)


def test_on_a_mute_link_words_are_lost_with_their_stream_and_others_are_not() -> None:
    network, world = world_of(1)

    async def scene() -> None:
        client, server = await connected(world)
        network.mute("server", "client")
        client.stream.send([b"do this"])
        await asyncio.sleep(1)
        assert bytes(server.heard) == b"do this", "what is asked arrives"
        server.stream.send([b"done"])
        assert isinstance(await client.ended, ConnectionResetError)
        assert not client.heard
        network.unmute("server", "client")
        assert not network.mute_links

    loop.run(scene)


def test_what_arrives_at_a_paused_process_is_told_when_it_goes_on() -> None:
    _, world = world_of(1)

    async def scene() -> None:
        running = asyncio.get_running_loop()
        assert isinstance(running, loop.VirtualTimeLoop)
        process = loop.Process()
        context = copy_context()
        context.run(loop.PROCESS.set, process)
        heard: list[Ear] = []

        def accept(stream: Stream) -> Ear:
            heard.append(Ear(stream))
            return heard[-1]

        context.run(world.server.listen, Address("server", 700), accept)
        client = await world.client.connect(Address("server", 700), Ear)
        process.is_paused = True
        client.send([b"hello"])
        knocking = asyncio.ensure_future(world.client.connect(Address("server", 700), Ear))
        await asyncio.sleep(5)
        assert not heard[0].heard
        assert not knocking.done()
        running.resume(process)
        await knocking
        assert bytes(heard[0].heard) == b"hello"

    loop.run(scene)


def test_a_machine_that_vanishes_leaves_its_peers_waiting() -> None:
    network, world = world_of(1)

    async def scene() -> None:
        client, server = await connected(world)
        network.unplug("server")
        client.stream.send([b"anybody?"])
        await asyncio.sleep(3600)
        assert not client.ended.done()
        assert not server.heard
        with pytest.raises(ConnectionRefusedError):
            await world.client.connect(Address("server", 40_001), Ear)

    loop.run(scene)


def test_the_same_seed_gives_the_same_arrivals() -> None:
    def arrivals(seed: int) -> list[tuple[float, bytes]]:
        _, world = world_of(seed)
        seen: list[tuple[float, bytes]] = []

        async def scene() -> None:
            client, server = await connected(world)
            running = asyncio.get_running_loop()
            server.answer = lambda piece: seen.append((running.time(), piece))
            for n in range(20):
                client.stream.send([b"%d" % n])
                await asyncio.sleep(0.001)
            await asyncio.sleep(1)

        loop.run(scene)
        return seen

    assert arrivals(5) == arrivals(5)
    assert arrivals(5) != arrivals(6)
