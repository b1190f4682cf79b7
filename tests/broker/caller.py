"""A client on a simulated network: whole requests and answers, or any bytes at all.

house = Storehouse(); await house.start()
door = Door(house)
caller = await door.call()
response = await caller.ask(ApiVersionsRequest(), 0)
"""

from __future__ import annotations

import asyncio
from typing import Any

from tests.broker.storehouse import Storehouse

from quire.broker.connection import Acceptor
from quire.ports.network import Address, Owner, Stream
from quire.protocol.apis import BROKER, Listener
from quire.protocol.connection import ClientFraming
from quire.sim.entropy import SeededEntropy
from quire.sim.network import SimNetwork


class Caller:
    """One connection to the broker."""

    def __init__(self, client_id: str | None = "test") -> None:
        self.framing = ClientFraming(client_id)
        self.buffer = self.framing.buffer
        self.answers: asyncio.Queue[Any] = asyncio.Queue()
        self.ended = asyncio.Event()
        self.reason: Exception | None = None
        self.raw = bytearray()
        self.stream: Stream
        self.is_raw = False

    def received(self, count: int) -> None:
        if self.is_raw:
            self.raw += self.framing._receiver._scratch[:count]
            return
        for response in self.framing.received(count):
            self.answers.put_nowait(response.decode())

    def drained(self) -> None:
        pass

    def closed(self, reason: Exception | None) -> None:
        self.reason = reason
        self.ended.set()

    def send(self, request: Any, version: int, *, expects_response: bool = True) -> None:
        _, parts = self.framing.encode_request(request, version, expects_response=expects_response)
        self.stream.send(parts)

    async def ask(self, request: Any, version: int) -> Any:
        self.send(request, version)
        return await self.answer()

    async def answer(self) -> Any:
        """The next answer; the end of the connection is an error."""
        getting = asyncio.ensure_future(self.answers.get())
        ending = asyncio.ensure_future(self.ended.wait())
        try:
            await asyncio.wait({getting, ending}, return_when=asyncio.FIRST_COMPLETED)
            if getting.done():
                return getting.result()
        finally:
            getting.cancel()
            ending.cancel()
        raise ConnectionError(f"ended: {self.reason}")

    async def is_closed(self, within_seconds: float = 1.0) -> bool:
        try:
            async with asyncio.timeout(within_seconds):
                await self.ended.wait()
        except TimeoutError:
            return False
        return True


class Door:
    """A listener of the house, and the network before it."""

    def __init__(
        self, house: Storehouse, *, listener: str = "PLAINTEXT", kind: Listener = BROKER
    ) -> None:
        self.network = SimNetwork(SeededEntropy(3))
        self.acceptor = Acceptor(house.broker, listener=listener, kind=kind)
        self.address = Address("broker", 9092)
        self.network.machine("broker").listen(self.address, self._accept)
        self.accepted: list[Any] = []

    def _accept(self, stream: Stream) -> Owner:
        owner = self.acceptor.accept(stream)
        self.accepted.append(owner)
        return owner

    async def call(self, host: str = "client", client_id: str | None = "test") -> Caller:
        caller = Caller(client_id)

        def own(stream: Stream) -> Owner:
            caller.stream = stream
            return caller

        await self.network.machine(host).connect(self.address, own)
        return caller
