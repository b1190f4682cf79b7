"""What every implementation of the network's door must do, said once; runtime and sim are held to it alike."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

import pytest

from quire.ports.disk import File
from quire.ports.network import Address, Network, Stream

T = TypeVar("T")


class World(NamedTuple):
    """A server's and a client's door, an address to listen on, and a file to send from."""

    server: Network
    client: Network
    address: Address
    file: File


class Range(NamedTuple):
    file: File
    position: int
    size: int


EARS: list[Ear] = []
"""Everybody who took part in the conversation that runs."""


class Ear:
    """An owner that keeps all it hears, and may answer."""

    def __init__(self, stream: Stream, buffer_bytes: int = 4096) -> None:
        self.stream = stream
        self.heard = bytearray()
        self.ended: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        self.drained_times = 0
        self.answer: Callable[[bytes], None] = lambda _: None
        self._buffer = bytearray(buffer_bytes)
        EARS.append(self)
        self._changed = asyncio.Event()

    def buffer(self) -> memoryview:
        return memoryview(self._buffer)

    def received(self, count: int) -> None:
        assert not self.ended.done(), "nothing is told after the end"
        piece = bytes(self._buffer[:count])
        self.heard += piece
        self._changed.set()
        self.answer(piece)

    def drained(self) -> None:
        self.drained_times += 1
        self._changed.set()

    def closed(self, reason: Exception | None) -> None:
        self.ended.set_result(reason)
        self._changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not condition():
                self._changed.clear()
                await self._changed.wait()


async def leave_nothing_open(conversation: Awaitable[T]) -> T:
    """Hold a conversation; afterwards every stream has ended."""
    try:
        return await conversation
    finally:
        for ear in EARS:
            ear.stream.abort()
        await asyncio.sleep(0)
        EARS.clear()


async def connected(world: World) -> tuple[Ear, Ear]:
    """A client's and a server's end of one stream."""
    servers: list[Ear] = []

    def accept(stream: Stream) -> Ear:
        servers.append(Ear(stream))
        return servers[-1]

    listening = world.server.listen(world.address, accept)
    clients: list[Ear] = []

    def open_ear(stream: Stream) -> Ear:
        clients.append(Ear(stream))
        return clients[-1]

    await world.client.connect(listening.address, open_ear)
    async with asyncio.timeout(30):
        while not servers:  # noqa: ASYNC110 -- the door has no event for it
            await asyncio.sleep(0.001)
    listening.close()
    return clients[0], servers[0]


async def bytes_arrive_in_the_order_they_were_sent(world: World) -> None:
    client, server = await connected(world)
    for n in range(50):
        client.stream.send([b"%d," % n, bytearray(b"x" * n), memoryview(b";")])
    expected = b"".join(b"%d,%s;" % (n, b"x" * n) for n in range(50))
    await server.until(lambda: len(server.heard) >= len(expected))
    assert server.heard == expected


async def answers_go_back(world: World) -> None:
    client, server = await connected(world)
    server.answer = lambda piece: server.stream.send([piece.upper()])
    client.stream.send([b"hello"])
    await client.until(lambda: len(client.heard) == 5)
    assert client.heard == b"HELLO"


async def stretches_of_files_and_buffers_arrive_as_one_run(world: World) -> None:
    client, server = await connected(world)
    size = world.file.size()
    parts = [
        b"head", Range(world.file, 10, 1000), b"middle", Range(world.file, 0, size), b"tail",
        Range(world.file, size - 7, 7),
    ]  # fmt: skip
    server.stream.send(parts)
    content = world.file.read(0, size)
    expected = b"head" + content[10:1010] + b"middle" + content + b"tail" + content[-7:]
    await client.until(lambda: len(client.heard) >= len(expected))
    assert client.heard == expected


async def a_reader_that_pauses_holds_the_sender_back(world: World) -> None:
    client, server = await connected(world)
    server.stream.pause_reading()
    content = bytes(itertools.islice(itertools.cycle(range(251)), 8 << 20))
    client.stream.send([content])
    await asyncio.sleep(0.1)
    assert client.stream.unsent_bytes > 0
    server.stream.resume_reading()
    await server.until(lambda: len(server.heard) == len(content))
    assert server.heard == content
    await client.until(lambda: client.drained_times == 1)
    assert client.stream.unsent_bytes == 0


async def what_was_sent_before_a_close_arrives(world: World) -> None:
    client, server = await connected(world)
    client.stream.send([b"x" * (2 << 20)])
    client.stream.close()
    client.stream.send([b"too late"])
    assert await asyncio.wait_for(server.ended, 30) is None
    assert server.heard == b"x" * (2 << 20)
    assert await asyncio.wait_for(client.ended, 30) is None


async def an_abort_is_seen_as_a_reset(world: World) -> None:
    client, server = await connected(world)
    client.stream.abort()
    reason = await asyncio.wait_for(server.ended, 30)
    assert isinstance(reason, ConnectionResetError)
    assert await asyncio.wait_for(client.ended, 30) is None
    client.stream.abort()
    client.stream.close()


async def an_owner_that_fails_ends_its_stream_and_hears_why(world: World) -> None:
    client, server = await connected(world)

    def fail(_: bytes) -> None:
        raise ValueError("a hostile frame")

    server.answer = fail
    client.stream.send([b"hello"])
    assert str(await asyncio.wait_for(server.ended, 30)) == "a hostile frame"
    await asyncio.wait_for(client.ended, 30)


async def an_address_in_use_is_refused_by_name(world: World) -> None:
    listening = world.server.listen(world.address, Ear)
    with pytest.raises(OSError, match=str(listening.address.port)):
        world.server.listen(listening.address, Ear)
    listening.close()


async def nobody_there_is_refused_by_name(world: World) -> None:
    listening = world.server.listen(world.address, Ear)
    listening.close()
    with pytest.raises(ConnectionRefusedError, match=str(listening.address.port)):
        await world.client.connect(listening.address, Ear)


CONVERSATIONS: tuple[Callable[[World], Awaitable[None]], ...] = (
    bytes_arrive_in_the_order_they_were_sent,
    answers_go_back,
    stretches_of_files_and_buffers_arrive_as_one_run,
    a_reader_that_pauses_holds_the_sender_back,
    what_was_sent_before_a_close_arrives,
    an_abort_is_seen_as_a_reset,
    an_owner_that_fails_ends_its_stream_and_hears_why,
    an_address_in_use_is_refused_by_name,
    nobody_there_is_refused_by_name,
)
