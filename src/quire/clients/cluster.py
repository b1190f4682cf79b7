"""A cluster as its clients see it: its brokers, its topics, who leads what; every question goes to the right broker.

    async with Cluster(network, [Address("localhost", 9092)]) as cluster:
        answer = await cluster.ask(CreateTopicsRequest(...))               any broker
        answer = await cluster.ask(FetchRequest(...), node_id=leader)      one broker

Invariants
  I1  There is at most one connection per broker, opened when first needed and again when it ended.
  I2  A question is sent once: whether to send it again is the asker's decision, who knows if it may be done twice.
Not here   batching, groups, transactions, retries (producer and consumer).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Self

from quire.clients.connection import ANSWER_SECONDS, Connection
from quire.clients.errors import AnswerError, ClientError, UnreachableError, expect
from quire.errors import ErrorCode, Remedy
from quire.ports.network import Address, Network
from quire.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)

SETTLE_SECONDS = 10.0
"""How long a topic may be without leaders before it is an error: elections take less."""
PAUSE_SECONDS = 0.05


class Cluster:
    """See the module."""

    def __init__(
        self, network: Network, bootstrap: Sequence[Address], *, client_id: str = "quire"
    ) -> None:
        if not bootstrap:
            raise ValueError("a cluster needs at least one address to begin with")
        self._network = network
        self._bootstrap = tuple(bootstrap)
        self._client_id = client_id
        self._first: Connection | None = None
        self._connections: dict[int, Connection] = {}
        self._opening: dict[int, asyncio.Lock] = {}
        self.brokers: dict[int, Address] = {}
        self.cluster_id: str | None = None

    async def __aenter__(self) -> Self:
        await self.refresh(())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every connection."""
        for connection in (self._first, *self._connections.values()):
            if connection is not None:
                connection.close()
        self._first = None
        self._connections.clear()

    async def refresh(
        self, topics: Iterable[str] | None = None, *, create: bool = False
    ) -> MetadataResponse:
        """What the cluster says of itself and of `topics`: None is all of them."""
        wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        connection = await self.any()
        answer: MetadataResponse = await connection.ask(
            MetadataRequest(topics=wanted, allow_auto_topic_creation=create)
        )
        expect(answer.error_code, "asking for metadata")
        self.cluster_id = answer.cluster_id
        self.brokers = {one.node_id: Address(one.host, one.port) for one in answer.brokers}
        return answer

    async def topic(
        self, name: str, *, create: bool = False, is_new: bool = False
    ) -> MetadataResponseTopic:
        """One topic, every partition with its leader; waits a little for elections that are under way.

        A topic that `is_new` was made just now, and is waited for too: this broker may not have heard of it yet.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + SETTLE_SECONDS
        while True:
            answer = await self.refresh([name], create=create)
            found = answer.topics[0]
            codes = [found.error_code, *(one.error_code for one in found.partitions)]
            worst = next((code for code in codes if code != ErrorCode.NONE), ErrorCode.NONE)
            if worst == ErrorCode.NONE:
                return found
            is_absent = worst == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and not (create or is_new)
            can_wait = ErrorCode.of(worst).remedy in (Remedy.RETRY, Remedy.REFRESH_METADATA)
            if is_absent or not can_wait or loop.time() >= deadline:
                raise AnswerError(worst, f"topic {name}")
            await asyncio.sleep(PAUSE_SECONDS)

    async def any(self) -> Connection:
        """A connection to some broker: the one that answered first."""
        if self._first is not None and self._first.is_open:
            return self._first
        for connection in self._connections.values():
            if connection.is_open:
                return connection
        failures = []
        for address in dict.fromkeys((*self._bootstrap, *self.brokers.values())):
            try:
                self._first = await Connection.open(
                    self._network, address, client_id=self._client_id
                )
            except (OSError, TimeoutError, ClientError) as error:
                failures.append(_failure(address, error))
            else:
                return self._first
        raise UnreachableError("; ".join(failures))

    async def broker(self, node_id: int) -> Connection:
        """The connection to one broker."""
        lock = self._opening.setdefault(node_id, asyncio.Lock())
        async with lock:
            connection = self._connections.get(node_id)
            if connection is not None and connection.is_open:
                return connection
            address = self.brokers.get(node_id)
            if address is None:
                raise UnreachableError(f"broker {node_id} is not part of the cluster now")
            try:
                connection = await Connection.open(
                    self._network, address, client_id=self._client_id
                )
            except (OSError, TimeoutError) as error:
                raise UnreachableError(_failure(address, error)) from error
            self._connections[node_id] = connection
            return connection

    async def ask(
        self,
        request: Any,
        *,
        node_id: int | None = None,
        timeout_seconds: float = ANSWER_SECONDS,
    ) -> Any:
        """Ask one broker, or any."""
        connection = await (self.any() if node_id is None else self.broker(node_id))
        return await connection.ask(request, timeout_seconds=timeout_seconds)


def _failure(address: Address, error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"{address} did not answer"
    if isinstance(error, OSError):
        known = os.strerror(error.errno) if error.errno and error.errno > 0 else ""
        text = known or error.strerror or str(error)
        return f"{address}: {text.removesuffix(f': {address}')}"
    return str(error)
