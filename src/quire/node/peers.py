"""How a node's broker asks other brokers: one connection for each, opened when it is needed.

Invariants
  I1  Whatever goes wrong ends as PeerUnavailableError, and with a new connection the next time.
  I2  A broker is asked at the address that it has in the newest image, on the listener between brokers.
Not here   what is asked (broker.markers, broker.verification), fetching from leaders.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from quire.broker.nodes import node_of
from quire.broker.peers import PeerUnavailableError
from quire.clients.errors import DisconnectedError, NotSpokenError
from quire.errors import ProtocolError
from quire.metadata.image import Image
from quire.ports.network import Address, Network

if TYPE_CHECKING:
    from quire.clients.connection import Connection

CLIENT_ID: Final = "broker"


class Peers:
    """See the module."""

    def __init__(
        self, network: Network, *, listener: str, image: Callable[[], Image], timeout_ms: int
    ) -> None:
        self._network = network
        self._listener = listener
        self._image = image
        self._timeout_seconds = timeout_ms / 1000
        self._connections: dict[int, tuple[Address, Connection]] = {}
        self._opening: dict[int, asyncio.Lock] = {}

    async def ask(self, node_id: int, request: Any) -> Any:
        """See `broker.peers.Peers`."""
        try:
            connection = await self._connection(node_id)
            return await connection.ask(request, timeout_seconds=self._timeout_seconds)
        except (OSError, TimeoutError, DisconnectedError, NotSpokenError, ProtocolError) as error:
            known = self._connections.pop(node_id, None)
            if known is not None:
                known[1].close()
            raise PeerUnavailableError(f"broker {node_id}: {error}") from error

    def close(self) -> None:
        """End every connection."""
        for _, connection in self._connections.values():
            connection.close()
        self._connections.clear()

    async def _connection(self, node_id: int) -> Connection:
        async with self._opening.setdefault(node_id, asyncio.Lock()):
            address = self._address(node_id)
            known = self._connections.get(node_id)
            if known is not None:
                if known[0] == address and known[1].is_open:
                    return known[1]
                known[1].close()
                del self._connections[node_id]
            from quire.clients.connection import Connection  # noqa: PLC0415 -- one node alone asks nobody

            connection = await Connection.open(
                self._network, address, client_id=CLIENT_ID, timeout_seconds=self._timeout_seconds
            )
            self._connections[node_id] = (address, connection)
            return connection

    def _address(self, node_id: int) -> Address:
        """I2."""
        broker = self._image().brokers.get(node_id)
        node = None if broker is None else node_of(broker, self._listener)
        if node is None:
            raise PeerUnavailableError(f"broker {node_id} has no address on {self._listener}")
        return Address(node.host, node.port)
