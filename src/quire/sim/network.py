"""A network between simulated machines: every byte takes its time, and links break, reset and go silent by seed.

A world has one `SimNetwork`; each machine sees it through its own `machine(host)`. Bytes sent at one moment travel
together; a file's bytes are copied when they are sent.

Invariants
  I1  On one stream bytes arrive in order, or not at all; after a reset nothing arrives.
  I2  A cut link loses nothing that a repaired one could not deliver, but delivers nothing either: the ends wait, as
      they do on a real network, until somebody gives up.
  I3  The same seed and the same calls give the same arrivals in the same order.
  I4  What arrives is told in the context of the process that listens or connected: a paused one hears it when it goes
      on.
  I5  On a mute link nobody gets what the source says: each word breaks its stream, as if the answer had been lost.
Not here   time (sim.loop), whoever cuts the links (the nemesis of a workload).
See        ports.network.
"""

from __future__ import annotations

import asyncio
import errno
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import Context, copy_context

from quire.ports.network import Accept, Address, Listening, Owner, Sendable, Stream
from quire.sim.entropy import SeededEntropy
from quire.sim.loop import PROCESS

FIRST_FREE_PORT = 40_000
CONNECT_TIMEOUT_SECONDS = 20.0
"""How long an unanswered connection attempt lasts, as it does on a real machine."""
PAUSED_LOOK_SECONDS = 0.05


class SimNetwork:
    """All machines, their listeners, and the state of every link."""

    def __init__(
        self,
        entropy: SeededEntropy,
        *,
        delay_ms: tuple[int, int] = (0, 3),
        window_bytes: int = 1 << 18,
    ) -> None:
        self._entropy = entropy.stream("network")
        self._delay_ms = delay_ms
        self.window_bytes = window_bytes
        self._listeners: dict[Address, SimListening] = {}
        self._streams: list[SimStream] = []
        self._cut: set[tuple[str, str]] = set()
        self.mute_links: set[tuple[str, str]] = set()
        self._next_port = FIRST_FREE_PORT

    def machine(self, host: str) -> SimMachine:
        """The network as the machine called `host` sees it."""
        return SimMachine(self, host)

    def cut(self, source: str, target: str) -> None:
        """Nothing goes from `source` to `target` any more; the other direction is another link."""
        self._cut.add((source, target))

    def repair(self, source: str, target: str) -> None:
        """The link works again; what waited goes on."""
        self._cut.discard((source, target))
        for stream in self._streams:
            stream.pump()

    def is_cut(self, source: str, target: str) -> bool:
        return (source, target) in self._cut

    def mute(self, source: str, target: str) -> None:
        """Whatever `source` says to `target` is lost, and the stream with it (I5)."""
        self.mute_links.add((source, target))

    def unmute(self, source: str, target: str) -> None:
        """Words arrive again."""
        self.mute_links.discard((source, target))

    def reset_all(self, host: str) -> None:
        """Every stream of a machine breaks, at both ends."""
        for stream in [s for s in self._streams if host in (s.local.host, s.peer.host)]:
            stream.fail(OSError(errno.ECONNRESET, "the connection was reset", str(stream.peer)))

    def unplug(self, host: str) -> None:
        """The machine is gone: its listeners too, and its own ends of streams without a word to the others."""
        for address in sorted(a for a in self._listeners if a.host == host):
            self._listeners[address].close()
        for stream in [s for s in self._streams if s.local.host == host]:
            stream.vanish()

    def delay_seconds(self) -> float:
        """How long the next piece travels."""
        low, high = self._delay_ms
        return (low + self._entropy.below((high - low) * 1000 + 1) / 1000) / 1000

    def free_port(self) -> int:
        self._next_port += 1
        return self._next_port

    def bind(self, address: Address, listening: SimListening) -> None:
        if address in self._listeners:
            raise OSError(errno.EADDRINUSE, "the address is in use", str(address))
        self._listeners[address] = listening

    def release(self, address: Address) -> None:
        self._listeners.pop(address, None)

    def listener(self, address: Address) -> SimListening | None:
        return self._listeners.get(address)

    def pair(self, client: Address, server: Address) -> tuple[SimStream, SimStream]:
        """Two ends of a new stream."""
        near, far = SimStream(self, client, server), SimStream(self, server, client)
        near.other, far.other = far, near
        self._streams += [near, far]
        return near, far

    def forget(self, stream: SimStream) -> None:
        if stream in self._streams:
            self._streams.remove(stream)


class SimStream:
    """One end of a stream."""

    def __init__(self, network: SimNetwork, local: Address, peer: Address) -> None:
        self.local = local
        self.peer = peer
        self.unsent_bytes = 0
        self.other: SimStream
        self._network = network
        self._owner: Owner | None = None
        self._outgoing: deque[bytes] = deque()
        self._arrived = bytearray()
        self._in_flight = 0
        self._reading = True
        self._blocked = False
        self._closing = False
        self._end_arrived = False
        self._ended = False
        self._last_arrival = 0.0
        self.context: Context = copy_context()
        """Whose stream it is (I4)."""

    def __repr__(self) -> str:
        return f"SimStream({self.local} - {self.peer})"

    def start(self, owner: Owner) -> None:
        """Give the stream its owner; once."""
        self._owner = owner
        self._deliver()

    def send(self, parts: Iterable[Sendable]) -> None:
        if self._ended or self._closing:
            return
        content = b"".join(
            bytes(part)
            if isinstance(part, bytes | bytearray | memoryview)
            else part.file.read(part.position, part.size)
            for part in parts
        )
        if content and (self.local.host, self.peer.host) in self._network.mute_links:
            self.fail(OSError(errno.ECONNRESET, "the connection was reset", str(self.peer)))
        elif content:
            self._outgoing.append(content)
            self.unsent_bytes += len(content)
            self.pump()

    def pause_reading(self) -> None:
        self._reading = False

    def resume_reading(self) -> None:
        self._reading = True
        asyncio.get_running_loop().call_soon(self._deliver)

    def close(self) -> None:
        if not self._ended and not self._closing:
            self._closing = True
            self._reading = False
            self.pump()

    def abort(self) -> None:
        if not self._ended:
            other = self.other
            reason = OSError(errno.ECONNRESET, "the connection was reset", str(self.local))
            if not self._network.is_cut(self.local.host, self.peer.host):
                self._after_delay(lambda: other.fail(reason))
            self._end(None)

    def pump(self) -> None:
        """Put on the way what the link and the window of the other end take."""
        if self._ended or self._network.is_cut(self.local.host, self.peer.host):
            return
        room = self._network.window_bytes - self._in_flight - len(self.other._arrived)  # noqa: SLF001
        while self._outgoing and room > 0:
            piece = self._outgoing.popleft()
            if len(piece) > room:
                self._outgoing.appendleft(piece[room:])
                piece = piece[:room]
            room -= len(piece)
            self.unsent_bytes -= len(piece)
            self._in_flight += len(piece)
            self._travel(piece)
        if self._outgoing:
            self._blocked = True
            return
        if self._blocked:
            self._blocked = False
            if self._owner is not None and not self._closing:
                asyncio.get_running_loop().call_soon(self._owner.drained, context=self.context)
        if self._closing:
            other = self.other
            self._after_delay(other._on_end)  # noqa: SLF001 -- the two ends are one thing
            self._end(None)

    def fail(self, reason: Exception) -> None:
        """Break at both ends, with what was on the way."""
        self.other._break(reason)  # noqa: SLF001
        self._break(reason)

    def vanish(self) -> None:
        """The machine of this end is gone; the other end learns nothing."""
        self._owner = None
        self._end(None)

    def _break(self, reason: Exception) -> None:
        self._outgoing.clear()
        self.unsent_bytes = 0
        self._end(reason)

    def _travel(self, piece: bytes) -> None:
        other = self.other

        def arrive() -> None:
            self._in_flight -= len(piece)
            if not other._ended:  # noqa: SLF001 -- the two ends are one thing
                other._arrived += piece  # noqa: SLF001
                other._deliver()  # noqa: SLF001

        self._after_delay(arrive)

    def _after_delay(self, step: Callable[[], object]) -> None:
        """Later, but never before what was sent earlier (I1), and at the other end (I4)."""
        loop = asyncio.get_running_loop()
        self._last_arrival = max(loop.time() + self._network.delay_seconds(), self._last_arrival)
        loop.call_at(self._last_arrival, step, context=self.other.context)

    def _on_end(self) -> None:
        self._end_arrived = True
        self._deliver()

    def _deliver(self) -> None:
        """Hand over what has arrived, then the end."""
        owner = self._owner
        if owner is None:
            return
        try:
            while self._arrived and self._reading and not self._ended:
                buffer = owner.buffer()
                count = min(buffer.nbytes, len(self._arrived))
                buffer[:count] = self._arrived[:count]
                del self._arrived[:count]
                owner.received(count)
        except Exception as error:  # noqa: BLE001 -- the owner's, handed back to it
            self._break(error)
            self.other.fail(OSError(errno.ECONNRESET, "the connection was reset", str(self.local)))
            return
        if not self._ended:
            self.other.pump()
            if self._end_arrived and not self._arrived and self._reading:
                self._end(None)

    def _end(self, reason: Exception | None) -> None:
        if self._ended:
            return
        self._ended = True
        self._network.forget(self)
        if self._owner is not None:
            asyncio.get_running_loop().call_soon(self._owner.closed, reason, context=self.context)


class SimListening:
    """An address on which a machine accepts streams."""

    def __init__(self, network: SimNetwork, address: Address, accept: Accept) -> None:
        self.address = address
        self.accept = accept
        self.context = copy_context()
        self._network = network
        network.bind(address, self)

    def close(self) -> None:
        self._network.release(self.address)


class SimMachine:
    """One machine's door to the network."""

    def __init__(self, network: SimNetwork, host: str) -> None:
        self._network = network
        self.host = host

    def listen(self, address: Address, accept: Accept) -> Listening:
        port = address.port or self._network.free_port()
        return SimListening(self._network, Address(self.host, port), accept)

    async def connect(self, address: Address, accept: Accept) -> Stream:
        """Open a stream; there and back takes its time."""
        network = self._network
        await self._travel(self.host, address.host, address)
        listening = network.listener(address)
        await self._travel(address.host, self.host, address)
        if listening is not None:
            await _until_it_goes_on(listening)
        if listening is None or network.listener(address) is not listening:
            raise OSError(errno.ECONNREFUSED, "nobody is there", str(address))
        near, far = network.pair(Address(self.host, network.free_port()), address)
        far.context = listening.context
        far.context.run(_begin, far, listening.accept)
        near.start(accept(near))
        return near

    async def _travel(self, source: str, target: str, address: Address) -> None:
        if self._network.is_cut(source, target):
            await asyncio.sleep(CONNECT_TIMEOUT_SECONDS)
            raise OSError(errno.ETIMEDOUT, "nobody answers", str(address))
        await asyncio.sleep(self._network.delay_seconds())


def _begin(stream: SimStream, accept: Accept) -> None:
    stream.start(accept(stream))


async def _until_it_goes_on(listening: SimListening) -> None:
    """Whoever knocks at a paused process waits."""
    process = listening.context.get(PROCESS)
    while process is not None and process.is_paused:  # noqa: ASYNC110 -- a knock is not heard
        await asyncio.sleep(PAUSED_LOOK_SECONDS)
