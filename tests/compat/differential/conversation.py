"""A client that says exactly what it is told to say: one blocking connection, one request at a time."""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Any, Final, Self

from quire.errors import QuireError
from quire.protocol.connection import ClientFraming
from quire.protocol.messages import describe_quorum as quorum
from quire.protocol.messages.api_versions import ApiVersionsRequest

CLOSED: Final = "the connection was closed"
TIMEOUT_SECONDS: Final = 30


class Conversation:
    """Requests to one server; a connection that was closed is opened again for the next request."""

    def __init__(self, port: int, client_id: str | None = "differential") -> None:
        self._port = port
        self._client_id = client_id
        self._socket: socket.socket | None = None
        self._framing = ClientFraming(client_id)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.hang_up()

    def hang_up(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def ask(self, request: Any, version: int) -> Any:
        """The decoded response, or CLOSED."""
        connection = self._connected()
        _, pieces = self._framing.encode_request(request, version)
        return self._answer(connection, b"".join(pieces), decode=True)

    def settle(self) -> None:
        """Wait until the broker has seen all that the controller has committed."""
        request = quorum.DescribeQuorumRequest(
            topics=[
                quorum.DescribeQuorumRequestTopicData(
                    topic_name="__cluster_metadata",
                    partitions=[quorum.DescribeQuorumRequestPartitionData(partition_index=0)],
                )
            ]
        )
        committed = self.ask(request, 2).topics[0].partitions[0].high_watermark
        asked = ApiVersionsRequest(client_software_name="t", client_software_version="1")
        while self.ask(asked, 4).finalized_features_epoch < committed - 1:
            pass

    def send_bytes(self, frame: bytes) -> Any:
        """Send a frame as it is; "an answer" or CLOSED."""
        connection = self._connected()
        try:
            connection.sendall(frame)
            answered = connection.recv(65_536)
        except OSError:
            answered = b""
        self.hang_up()
        return "an answer" if answered else CLOSED

    def _answer(self, connection: socket.socket, data: bytes, *, decode: bool) -> Any:
        try:
            connection.sendall(data)
            while True:
                count = connection.recv_into(self._framing.buffer())
                if not count:
                    break
                responses = self._framing.received(count)
                if responses:
                    return responses[0].decode() if decode else responses[0].frame
        except ConnectionError:
            pass
        except (TimeoutError, QuireError) as failure:
            self.hang_up()
            return f"{type(failure).__name__}: {failure}"
        self.hang_up()
        return CLOSED

    def _connected(self) -> socket.socket:
        if self._socket is None:
            self._framing = ClientFraming(self._client_id)
            self._socket = socket.create_connection(("127.0.0.1", self._port), TIMEOUT_SECONDS)
        return self._socket
