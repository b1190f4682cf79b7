"""A client that says exactly what it is told to say: one blocking connection, one request at a time.

It knows the ids that its server has drawn, and puts them where the corpus has stand-ins for them.
"""

from __future__ import annotations

import copy
import socket
from types import TracebackType
from typing import Any, Final, Self

from tests.compat.differential.case import SESSION, STAND_INS

from quire.errors import QuireError
from quire.protocol.connection import ClientFraming
from quire.protocol.messages import describe_quorum as quorum
from quire.protocol.messages.api_versions import ApiVersionsRequest
from quire.protocol.messages.metadata import MetadataRequest

CLOSED: Final = "the connection was closed"
SILENCE: Final = "silence"
TIMEOUT_SECONDS: Final = 10
SILENCE_SECONDS: Final = 0.7
"""After which a server that says nothing will say nothing."""


class Conversation:
    """Requests to one server; a connection that was closed is opened again for the next request."""

    def __init__(self, port: int, client_id: str | None = "differential") -> None:
        self._port = port
        self._client_id = client_id
        self._socket: socket.socket | None = None
        self._framing = ClientFraming(client_id)
        self._ids: dict[str, bytes] = {}
        self._session_id = 0

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
        if getattr(request, "session_id", None) == SESSION:
            request = copy.copy(request)
            request.session_id = self._session_id
        silent = getattr(request, "acks", None) == 0
        _, pieces = self._framing.encode_request(request, version, expects_response=not silent)
        data = b"".join(pieces)
        for stand_in, topic in STAND_INS.items():
            data = data.replace(stand_in, self._ids.get(topic, stand_in))
        answer = self._unanswered(connection, data) if silent else self._answer(connection, data)
        self._session_id = getattr(answer, "session_id", 0) or self._session_id
        return answer

    def learn_ids(self) -> dict[bytes, str]:
        """Ask which topics there are; the ids, and whose they are."""
        answer = self.ask(MetadataRequest(topics=None), 12)
        names = {bytes(one.topic_id): one.name for one in answer.topics}
        self._ids = {name: topic_id for topic_id, name in names.items()}
        return names

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

    def take_ids(self, other: Conversation) -> None:
        """Know the ids that another conversation with the same system knows."""
        self._ids = other._ids

    def send_bytes(self, frame: bytes, *, hangs_up: bool) -> Any:
        """Send bytes as they are, on a connection of their own; "an answer", SILENCE or CLOSED."""
        self.hang_up()
        connection = self._connected()
        connection.settimeout(SILENCE_SECONDS)
        try:
            connection.sendall(frame)
            if hangs_up:
                connection.shutdown(socket.SHUT_WR)
            answered = connection.recv(65_536)
        except TimeoutError:
            return SILENCE
        except OSError:
            return CLOSED
        finally:
            self.hang_up()
        return "an answer" if answered else CLOSED

    def _unanswered(self, connection: socket.socket, data: bytes) -> Any:
        """SILENCE when the server goes on with the connection after a request without an answer."""
        _, pieces = self._framing.encode_request(ApiVersionsRequest(), 0)
        answer = self._answer(connection, data + b"".join(pieces))
        return answer if isinstance(answer, str) else SILENCE

    def _answer(self, connection: socket.socket, data: bytes) -> Any:
        try:
            connection.sendall(data)
            while True:
                count = connection.recv_into(self._framing.buffer())
                if not count:
                    break
                responses = self._framing.received(count)
                if responses:
                    return responses[0].decode()
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
