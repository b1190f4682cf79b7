"""The connections of one listener: who is let in, who has to wait, who was idle for too long, how all are sent home.

Invariants
  I1  A connection is counted from its admission to its end; who has to wait is not, and is not read.
  I2  At most `socket.listen.backlog.size` connections wait; one more is closed.
  I3  After `drain` nobody is let in, and everything that was begun has been answered.
  I4  The tasks of coroutine handlers are kept until they end: none is lost, none outlives `drop`.
Not here   requests and answers (conversation), listening (the node), certificates.
See        KIP-402, KIP-612
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import Any, Final

from quire.broker.broker import Broker
from quire.broker.call import Client
from quire.broker.connection_limits import AddressBounds, Bounds, overrides
from quire.broker.conversation import Conversation
from quire.broker.deadlines import Deadlines
from quire.broker.idle_wheel import IdleWheel
from quire.broker.routes import Routes
from quire.config.layers import BrokerLayers
from quire.ports.network import Owner, Stream
from quire.protocol.apis import Listener
from quire.protocol.connection import SCRATCH_BYTES, ServerFraming

DRAIN_SECONDS: Final = 10.0
"""How long those who were begun may take to end before they are cut off."""
FAR_MS: Final = 2**62
LOOK_SECONDS_MIN: Final = 0.01
LOOK_SECONDS_MAX: Final = 1.0
"""How often those who wait are looked at."""


class Acceptor:
    """See the module. `accept` goes to `network.listen`."""

    def __init__(self, broker: Broker, *, listener: str, kind: Listener) -> None:
        settings = broker.layers.listener(listener)
        self.broker = broker
        self.listener = listener
        self.kind = kind
        self.routes = Routes(kind, broker.metrics)
        self.figures = broker.metrics.listener(listener)
        self.monotonic_ns = broker.clock.monotonic_ns
        self._scratch = bytearray(SCRATCH_BYTES)
        self._request_max_bytes = settings.socket_request_max_bytes
        self._backlog_max = settings.socket_listen_backlog_size
        self._connections: dict[Conversation, None] = {}
        self._parked: deque[Conversation] = deque()
        self._admitted: dict[Conversation, str] = {}
        self._tasks: dict[asyncio.Task[None], None] = {}
        self._wheel: IdleWheel[Conversation] | None = None
        self._turning: asyncio.TimerHandle | None = None
        self._looking: asyncio.TimerHandle | None = None
        self._may_admit_ms = 0
        """Before this nobody who waits is let in: too many came."""
        if settings.connections_max_idle_ms >= 0:
            self._wheel = IdleWheel(settings.connections_max_idle_ms)
        self._layers: BrokerLayers | None = None
        self._bounds = self._broker_bounds = Bounds()
        self._address_bounds = AddressBounds()
        self._is_draining = False
        self._empty = asyncio.Event()
        if broker.waiting.deadlines is None:
            purgatories = [purgatory for _name, purgatory in broker.waiting.all()]
            broker.waiting.deadlines = Deadlines(purgatories, broker.clock)

    def __len__(self) -> int:
        """How many connections are open, those that wait included."""
        return len(self._connections)

    def accept(self, stream: Stream) -> Owner:
        """Somebody has come."""
        host = stream.peer.host
        now_ms = self.broker.clock.monotonic_ms()
        client = Client(stream.peer, self.listener)
        connection = Conversation(self, stream, client, now_ms)
        self._connections[connection] = None
        self._empty.clear()
        self._read_bounds()
        quotas = self.broker.quotas
        refuse_after_ms = quotas.connected(host) if quotas.active else 0
        limits = self.broker.connections
        if self._is_draining or limits.is_one_too_many(host, self._address_bounds):
            self._send_home(connection, 0)
        elif refuse_after_ms:
            self._send_home(connection, refuse_after_ms)
        else:
            self._admit_some()
            wait_ms = limits.wait_ms(self.listener, self._broker_bounds, self._bounds, now_ms)
            if not wait_ms and not self._parked and self._has_room():
                self._admit(connection)
            elif len(self._parked) >= self._backlog_max:
                self._send_home(connection, 0)  # I2
            else:
                self._parked.append(connection)
                connection.park()
                self._may_admit_ms = max(self._may_admit_ms, now_ms + wait_ms)
                self._look_again()
        return connection

    async def drain(self) -> None:
        """Answer what was begun, and close everything (I3)."""
        self._is_draining = True
        self._parked.clear()
        for connection in list(self._connections):
            connection.finish()
        self.broker.waiting.fetch.expire(FAR_MS)
        if self._connections:
            try:
                async with asyncio.timeout(DRAIN_SECONDS):
                    await self._empty.wait()
            except TimeoutError:
                for connection in list(self._connections):
                    connection.stream.abort()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=DRAIN_SECONDS)
        self.drop()

    def drop(self) -> None:
        """End all work without waiting, as a crash does (I4)."""
        for timer in (self._turning, self._looking):
            if timer is not None:
                timer.cancel()
        self._turning = self._looking = None
        self._is_draining = True
        self._parked.clear()
        for task in list(self._tasks):
            task.cancel()
        for connection in list(self._connections):
            connection.stream.abort()

    # --- for connections ----------------------------------------------------------------------

    def framing(self) -> ServerFraming:
        """How a connection cuts its bytes: all of them share one buffer."""
        return ServerFraming(self.kind, max_bytes=self._request_max_bytes, scratch=self._scratch)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine handler (I4)."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[task] = None
        task.add_done_callback(self._task_ended)

    def tell(self, connection: Conversation, text: str, error: Exception) -> None:
        """One line about a connection."""
        self.broker.journal.say(
            "connection",
            str(connection.client.address),
            text,
            listener=self.listener,
            error=f"{type(error).__name__}: {error}",
        )

    def forget(self, connection: Conversation) -> None:
        """A connection has ended."""
        self._connections.pop(connection, None)
        if self._wheel is not None:
            self._wheel.remove(connection)
        host = self._admitted.pop(connection, None)
        if host is not None:
            self.broker.connections.release(self.listener, host)
            self.figures.open -= 1
            self.figures.closed += 1
        elif connection in self._parked:
            self._parked.remove(connection)
        if self._parked:
            self._admit_some()
        if not self._connections:
            self._empty.set()

    # --- inside -------------------------------------------------------------------------------

    def _admit(self, connection: Conversation) -> None:
        host = connection.client.address.host
        self._admitted[connection] = host
        self.broker.connections.admit(self.listener, host)
        self.figures.open += 1
        self.figures.accepted += 1
        if self._wheel is not None:
            self._wheel.add(connection)
            if self._turning is None:
                self._set_turning()

    def _look_again(self) -> None:
        """Let in those who wait when it is time, or when the limits have changed."""
        if self._looking is None:
            wait_ms = self._may_admit_ms - self.broker.clock.monotonic_ms()
            seconds = min(max(wait_ms / 1000, LOOK_SECONDS_MIN), LOOK_SECONDS_MAX)
            self._looking = asyncio.get_running_loop().call_later(seconds, self._admit_some)

    def _admit_some(self) -> None:
        """Let in those who wait, while there is room and it is time."""
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        self._read_bounds()
        now_ms = self.broker.clock.monotonic_ms()
        while self._parked and not self._is_draining and self._has_room():
            if now_ms < self._may_admit_ms:
                break
            connection = self._parked.popleft()
            connection.active_ms = now_ms
            self._admit(connection)
            connection.admit()
        if self._parked:
            self._look_again()

    def _has_room(self) -> bool:
        limits = self.broker.connections
        return limits.has_room(self.listener, self._broker_bounds, self._bounds)

    def _send_home(self, connection: Conversation, after_ms: int) -> None:
        """Not this one; from the loop, because its stream is not quite there yet."""
        self.figures.refused += 1
        loop = asyncio.get_running_loop()
        if after_ms:
            connection.park()
            loop.call_later(after_ms / 1000, connection.stream.close)
        else:
            loop.call_soon(connection.stream.close)

    def _read_bounds(self) -> None:
        """The limits of now: they are dynamic."""
        layers = self.broker.layers
        if layers is self._layers:
            return
        self._layers = layers
        everywhere, own = layers.settings, layers.listener(self.listener)
        self._broker_bounds = Bounds(
            everywhere.max_connections, everywhere.max_connection_creation_rate
        )
        if own.max_connections != everywhere.max_connections or (
            own.max_connection_creation_rate != everywhere.max_connection_creation_rate
        ):
            self._bounds = Bounds(own.max_connections, own.max_connection_creation_rate)
        else:
            self._bounds = Bounds()
        self._address_bounds = AddressBounds(
            everywhere.max_connections_per_ip,
            overrides(everywhere.max_connections_per_ip_overrides),
        )

    def _set_turning(self) -> None:
        assert self._wheel is not None
        next_ms = self._wheel.next_ms()
        if next_ms is not None:
            seconds = (next_ms - self.broker.clock.monotonic_ms()) / 1000
            loop = asyncio.get_running_loop()
            self._turning = loop.call_later(max(seconds, 0.001), self._turn)

    def _turn(self) -> None:
        """Close those who have been idle for too long; who waits for an answer is not idle."""
        self._turning = None
        assert self._wheel is not None
        now_ms = self.broker.clock.monotonic_ms()
        for connection in self._wheel.turn(now_ms):
            if connection.unanswered:
                connection.active_ms = now_ms
                self._wheel.add(connection)
            else:
                self.figures.expired += 1
                if connection.stream.unsent_bytes:
                    connection.stream.abort()  # its client does not read
                else:
                    connection.finish()
        self._set_turning()

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            asyncio.get_running_loop().call_exception_handler(
                {"message": "an answer could not be given", "exception": error, "task": task}
            )
