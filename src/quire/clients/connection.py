"""One connection to a node: questions go out, answers come back in their order, at versions both sides speak.

    connection = await Connection.open(network, Address("localhost", 9092))
    answer = await connection.ask(MetadataRequest(topics=None))

The first thing asked is ApiVersions; a node that refuses our version of it tells the one it speaks.

Invariants
  I1  Every question ends: with its answer, with DisconnectedError when the connection ends, or with TimeoutError, after
      which the connection is ended too, because a late answer would be taken for the next one.
  I2  Nothing is sent at a version that the other side did not claim.
Not here   which node to ask (cluster), TLS and SASL, retries.
See        KIP-35, KIP-511
"""

from __future__ import annotations

import asyncio
import importlib.metadata
from collections import deque
from typing import Any

from quire.clients.errors import DisconnectedError, NotSpokenError
from quire.errors import ErrorCode, ProtocolError
from quire.ports.network import Address, Network, Stream
from quire.protocol.apis import APIS, ApiKey
from quire.protocol.connection import ClientFraming
from quire.protocol.messages.api_versions import ApiVersionsRequest
from quire.protocol.schema import declaration_of

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 40.0
"""Longer than the default of `request.timeout.ms`, which most requests give their broker."""
SOFTWARE_NAME = "quire"


class Connection:
    """See the module. Made by `open`."""

    def __init__(self, stream: Stream, framing: ClientFraming) -> None:
        self._stream = stream
        self._framing = framing
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self._versions: dict[int, tuple[int, int]] = {}
        self._ended: Exception | None = None
        self.peer = stream.peer
        self.buffer = framing.buffer

    @classmethod
    async def open(
        cls,
        network: Network,
        address: Address,
        *,
        client_id: str | None = SOFTWARE_NAME,
        timeout_seconds: float = CONNECT_SECONDS,
    ) -> Connection:
        """Connect and agree on versions. OSError or DisconnectedError when that fails."""
        made: list[Connection] = []

        def accept(stream: Stream) -> Connection:
            made.append(cls(stream, ClientFraming(client_id)))
            return made[0]

        async with asyncio.timeout(timeout_seconds):
            await network.connect(address, accept)
            connection = made[0]
            try:
                await connection.agree(timeout_seconds)
            except BaseException:
                connection.close()
                raise
        return connection

    @property
    def is_open(self) -> bool:
        return self._ended is None

    def version_of(self, request_class: type, *, at_most: int | None = None) -> int:
        """The highest version of a request that both sides speak; NotSpokenError when there is none."""
        declared = declaration_of(request_class)
        key = declared.key
        assert key is not None
        ours = APIS[key]
        low, high = self._versions.get(key, (0, -1))
        highest = min(high, ours.highest_stable if at_most is None else at_most)
        if highest < max(low, ours.lowest):
            raise NotSpokenError(f"{self.peer} does not speak {ours.name} as we do")
        return highest

    def speaks(self, request_class: type) -> bool:
        """Whether the other side can be asked this at all."""
        try:
            self.version_of(request_class)
        except NotSpokenError:
            return False
        return True

    async def ask(
        self, request: Any, *, version: int | None = None, timeout_seconds: float = ANSWER_SECONDS
    ) -> Any:
        """The answer to a request."""
        chosen = self.version_of(type(request)) if version is None else version
        return await self._ask(request, chosen, timeout_seconds)

    def tell(self, request: Any, *, version: int | None = None) -> None:
        """Send a request that has no answer (a Produce with acks=0)."""
        self._check_open()
        chosen = self.version_of(type(request)) if version is None else version
        _, parts = self._framing.encode_request(request, chosen, expects_response=False)
        self._stream.send(parts)

    def close(self) -> None:
        """End the connection once everything sent has left."""
        self._stream.close()

    # --- told by the stream ------------------------------------------------------------------

    def received(self, count: int) -> None:
        for response in self._framing.received(count):
            future = self._waiting.popleft()
            if future.done():
                continue
            try:
                future.set_result(response.decode())
            except ProtocolError as error:
                future.set_exception(error)

    def drained(self) -> None:
        """Nobody waits for that here."""

    def closed(self, reason: Exception | None) -> None:
        why = f": {reason}" if reason is not None else ""
        self._ended = DisconnectedError(f"{self.peer} ended the connection{why}")
        for future in self._waiting:
            if not future.done():
                future.set_exception(self._ended)
        self._waiting.clear()

    # --- inside ------------------------------------------------------------------------------

    async def agree(self, timeout_seconds: float) -> None:
        """Ask which versions the other side speaks; `open` does it."""
        request = ApiVersionsRequest(
            client_software_name=SOFTWARE_NAME,
            client_software_version=importlib.metadata.version("quire"),
        )
        api = APIS[ApiKey.API_VERSIONS]
        answer = await self._ask(request, api.highest, timeout_seconds)
        if answer.error_code == ErrorCode.UNSUPPORTED_VERSION:
            theirs = max(
                (a.max_version for a in answer.api_keys if a.api_key == api.key), default=0
            )
            answer = await self._ask(request, min(theirs, api.highest), timeout_seconds)
        if answer.error_code != ErrorCode.NONE:
            code = ErrorCode.of(answer.error_code)
            raise NotSpokenError(f"{self.peer} refused ApiVersions: {code.name}")
        self._versions = {a.api_key: (a.min_version, a.max_version) for a in answer.api_keys}

    async def _ask(self, request: Any, version: int, timeout_seconds: float) -> Any:
        self._check_open()
        _, parts = self._framing.encode_request(request, version)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        self._stream.send(parts)
        try:
            async with asyncio.timeout(timeout_seconds):
                return await future
        except TimeoutError:
            self._stream.abort()  # I1
            name = type(request).__name__
            raise TimeoutError(
                f"{self.peer} did not answer {name} within {timeout_seconds:g} s"
            ) from None

    def _check_open(self) -> None:
        if self._ended is not None:
            raise DisconnectedError(str(self._ended))
