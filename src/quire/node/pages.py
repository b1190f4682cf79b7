"""A few pages over HTTP, for those who watch a node: its figures and its state.

    /metrics    the figures, as Prometheus reads them
    /health     200 while clients are served, 503 else; JSON says why
    /alive      200 as long as the node's loop runs

Every connection is for one request. Off unless `quire.http.listener` says where.

Invariants
  I1  Nobody makes the node keep more than HEAD_BYTES of a request, more than CONNECTIONS_MAX connections, or one for
      longer than PATIENCE_SECONDS.
  I2  Long pages are made a family at a time, and the loop goes on between two of them.
Not here   what the figures are called (broker.exposition), the clients' listeners (listeners).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from quire.broker.broker import Broker
from quire.config.values import ConfigError
from quire.node.tasks import Tasks
from quire.ports.network import Address, Listening, Network, Owner, Stream

if TYPE_CHECKING:
    from quire.broker.exposition import Family

FIGURES_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
HEAD_BYTES: Final = 8192
CONNECTIONS_MAX: Final = 32
PATIENCE_SECONDS: Final = 10.0
SETTING: Final = "quire.http.listener"
_END: Final = b"\r\n\r\n"
_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    503: "Service Unavailable",
}


class Pages:
    """See the module."""

    def __init__(
        self,
        network: Network,
        broker: Broker,
        tasks: Tasks,
        *,
        figures: Callable[[], Iterable[Family]],
    ) -> None:
        self.broker = broker
        self._network = network
        self._tasks = tasks
        self._figures = figures
        self._listening: Listening | None = None
        self._readers: dict[_Reader, None] = {}

    def open(self, place: str) -> Address | None:
        """Listen at HOST:PORT; the true address, None where the place is empty."""
        if not place:
            return None
        host, _, port = place.rpartition(":")
        address = Address(host.strip("[]") or "127.0.0.1", int(port))
        try:
            self._listening = self._network.listen(address, self._accept)
        except OSError as error:
            raise ConfigError(
                f"{SETTING} is {place}, which cannot be opened: {error.strerror or error}",
                setting=SETTING,
            ) from error
        return self._listening.address

    def close(self) -> None:
        """Listen no more, and end what is open."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        for reader in list(self._readers):
            reader.stream.abort()

    # --- for connections ----------------------------------------------------------------------

    def answer(self, reader: _Reader, head: bytes) -> None:
        """A whole request has come; the answer is given from a task."""
        self._tasks.start(self._answer(reader, head), "page")

    def forget(self, reader: _Reader) -> None:
        self._readers.pop(reader, None)

    # --- inside -------------------------------------------------------------------------------

    def _accept(self, stream: Stream) -> Owner:
        reader = _Reader(self, stream)
        if len(self._readers) >= CONNECTIONS_MAX:
            asyncio.get_running_loop().call_soon(stream.abort)
        self._readers[reader] = None
        return reader

    async def _answer(self, reader: _Reader, head: bytes) -> None:
        words = head.split(b"\r\n", 1)[0].split(b" ")
        if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
            reader.give(400, "text/plain", b"this door speaks HTTP/1.1\n")
            return
        method, path = words[0], words[1].split(b"?", 1)[0]
        if method not in (b"GET", b"HEAD"):
            reader.give(405, "text/plain", b"only GET and HEAD are answered\n")
            return
        status, kind, body = await self._page(path)
        reader.give(status, kind, body, is_head=method == b"HEAD")

    async def _page(self, path: bytes) -> tuple[int, str, bytes]:
        if path == b"/metrics":
            pieces = []
            for family in self._figures():
                pieces.append(family.text())
                await asyncio.sleep(0)  # I2
            return 200, FIGURES_TYPE, "".join(pieces).encode()
        if path == b"/health":
            return self._health()
        if path == b"/alive":
            return 200, "text/plain", b"alive\n"
        return 404, "text/plain", b"there are /metrics, /health and /alive\n"

    def _health(self) -> tuple[int, str, bytes]:
        broker = self.broker
        offline = [
            {"directory": one.path, "failure": str(one.failure)}
            for one in broker.log_dirs.log_dirs
            if one.failure is not None
        ]
        state = {
            "node": broker.node_id,
            "cluster": broker.cluster_id,
            "state": broker.state.name.lower(),
            "leader of the quorum": broker.quorum.leader_id,
            "partitions": len(broker.replicas),
            "offline directories": offline,
        }
        return (
            200 if broker.is_ready else 503,
            "application/json",
            json.dumps(state, indent=2).encode() + b"\n",
        )


class _Reader:
    """One connection: a request's head is read, one answer given."""

    def __init__(self, pages: Pages, stream: Stream) -> None:
        self.stream = stream
        self._pages = pages
        self._buffer = bytearray(HEAD_BYTES)
        self._size = 0
        self._is_asked = False
        loop = asyncio.get_running_loop()
        self._patience = loop.call_later(PATIENCE_SECONDS, stream.abort)

    def buffer(self) -> memoryview:
        """After the request nothing counts any more."""
        return memoryview(self._buffer)[0 if self._is_asked else self._size :]

    def received(self, count: int) -> None:
        if self._is_asked:
            return
        self._size += count
        end = self._buffer.find(_END, 0, self._size)
        if end >= 0:
            self._is_asked = True
            self._pages.answer(self, bytes(self._buffer[:end]))
        elif self._size == HEAD_BYTES:
            self._is_asked = True
            self.give(400, "text/plain", b"the request is too long\n")

    def give(self, status: int, kind: str, body: bytes, *, is_head: bool = False) -> None:
        """The answer; the connection ends with it."""
        head = (
            f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        ).encode()
        self.stream.send([head] if is_head else [head, body])
        self.stream.close()

    def drained(self) -> None:
        """The answer has left."""

    def closed(self, reason: Exception | None) -> None:  # noqa: ARG002 -- the port's signature
        self._patience.cancel()
        self._pages.forget(self)
