from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.ports.conversations import (
    CONVERSATIONS,
    Ear,
    Range,
    World,
    connected,
    leave_nothing_open,
)

from quire.ports.network import Address, Stream
from quire.runtime import network
from quire.runtime.disk import RealDisk
from quire.runtime.network import RealNetwork

LOOPBACK = Address("127.0.0.1", 0)


@pytest.fixture
def world(tmp_path: Path) -> World:
    path = tmp_path / "file"
    path.write_bytes(bytes(range(256)) * 2000)
    return World(RealNetwork(), RealNetwork(), LOOPBACK, RealDisk().open(str(path)))


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.__name__)
def test_the_real_network_keeps_its_promises(
    conversation: Callable[[World], Awaitable[None]], world: World
) -> None:
    asyncio.run(leave_nothing_open(conversation(world)))  # type: ignore[arg-type]


def test_small_socket_buffers_change_nothing_but_the_number_of_calls(world: World) -> None:
    small = world._replace(
        server=RealNetwork(send_buffer_bytes=4096), client=RealNetwork(receive_buffer_bytes=4096)
    )
    for conversation in CONVERSATIONS[:3]:
        asyncio.run(leave_nothing_open(conversation(small)))  # type: ignore[arg-type]


def test_a_file_that_became_shorter_ends_the_stream_and_says_so(world: World) -> None:
    async def scene(size: int) -> None:
        client, server = await connected(world)
        server.stream.send([Range(world.file, world.file.size() - 10, size)])
        reason = await asyncio.wait_for(server.ended, 30)
        assert isinstance(reason, OSError)
        assert "the file ends" in str(reason)
        await asyncio.wait_for(client.ended, 30)

    asyncio.run(leave_nothing_open(scene(100)))
    asyncio.run(leave_nothing_open(scene(network.SENDFILE_FROM_BYTES + 100)))


def test_answers_of_one_wake_up_leave_in_one_call(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> int:
        client, server = await connected(world)

        def answer(piece: bytes) -> None:
            for _ in piece:
                server.stream.send([b"a", b"b"])

        server.answer = answer
        calls = 0
        send_some = network.SocketStream._send_some

        def counted(stream: network.SocketStream) -> bool:
            nonlocal calls
            calls += stream is server.stream
            return send_some(stream)

        monkeypatch.setattr(network.SocketStream, "_send_some", counted)
        client.stream.send([b"x" * 20])
        await client.until(lambda: len(client.heard) == 40)
        return calls

    assert asyncio.run(leave_nothing_open(scene())) == 1


def test_many_connections_at_once_are_all_served() -> None:
    async def scene() -> None:
        door = RealNetwork()

        def accept(stream: Stream) -> Ear:
            ear = Ear(stream, 64)
            ear.answer = lambda piece: stream.send([piece])
            return ear

        listening = door.listen(LOOPBACK, accept)
        ears: list[Ear] = []

        def keep(stream: Stream) -> Ear:
            ears.append(Ear(stream, 64))
            return ears[-1]

        await asyncio.gather(*(door.connect(listening.address, keep) for _ in range(300)))
        for number, ear in enumerate(ears):
            ear.stream.send([b"%d" % number])
        for number, ear in enumerate(ears):
            await ear.until(lambda ear=ear, number=number: ear.heard == b"%d" % number)  # type: ignore[misc]
            ear.stream.close()
        listening.close()

    asyncio.run(leave_nothing_open(scene()))


def test_a_peer_that_is_gone_before_it_is_greeted_harms_nobody() -> None:
    async def scene() -> None:
        door = RealNetwork()
        heard: list[Ear] = []

        def accept(stream: Stream) -> Ear:
            heard.append(Ear(stream))
            return heard[-1]

        listening = door.listen(LOOPBACK, accept)
        for _ in range(20):
            rude = socket.create_connection(listening.address)
            rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            rude.close()
        clients: list[Ear] = []

        def keep(stream: Stream) -> Ear:
            clients.append(Ear(stream))
            return clients[-1]

        await door.connect(listening.address, keep)
        clients[0].stream.send([b"polite"])
        async with asyncio.timeout(10):
            while not any(ear.heard == b"polite" for ear in heard):  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        clients[0].stream.close()
        listening.close()

    asyncio.run(leave_nothing_open(scene()))
