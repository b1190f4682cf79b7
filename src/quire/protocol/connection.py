"""Frames, headers and their order on one connection; whoever owns the socket moves the bytes.

Bytes go in through a buffer that is handed out to be filled, requests and responses come out; what
is to be sent comes back as a short list of buffers. Both sides of the conversation are here.

Invariants
  I1  A frame's claimed size is refused when it is below zero or above the bound, before any memory
      is taken for it; below the bound, memory follows what has arrived, not what was claimed.
  I2  A frame belongs to whoever received it: it is never written again, so views of it stay true.
  I3  A large frame is received into its own buffer; only what came along with its first bytes, and
      every small frame, is copied once (a small frame that comes in pieces, once per piece).
  I4  Responses are read in the order in which their requests were written.
Not here   sockets and TLS (runtime), which answer is due when (broker), records inside (records).
See        docs/formats/wire.md, KIP-482, KIP-511.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from struct import Struct
from struct import error as struct_error
from typing import Any, Final, NamedTuple

from quire.errors import ErrorCode, FrameSizeError, ProtocolError, UnsupportedVersionError
from quire.protocol.apis import APIS, Api, ApiKey, Listener
from quire.protocol.compiler import JOIN_BELOW_BYTES, codec, join_small
from quire.protocol.messages import REQUESTS
from quire.protocol.primitives import INT16, INT32, Malformed, read_tags, read_uvarint
from quire.protocol.schema import Array, Bytes, Nested, Variable, declaration_of, fields_of

DEFAULT_MAX_BYTES: Final = 104_857_600
"""The default of `socket.request.max.bytes`."""

SCRATCH_BYTES: Final = 65_536
"""The size of a buffer that small frames are received into."""
_OWN_BUFFER_FROM_BYTES: Final = 16_384
"""Frames of at least this size are received into a buffer of their own."""
_FIRST_CHUNK_BYTES: Final = 65_536
"""What a frame is trusted with before any of it has arrived, unless a larger one has come before."""
_TRUSTED_BYTES: Final = 1_048_576
"""What a frame is trusted with at most."""

_REQUEST_HEAD: Final = Struct(">Iih")
"""Key and version as one number, correlation id, length of the client id."""
_KEY_AND_VERSION: Final = Struct(">hh")
_RESPONSE_HEAD: Final = Struct(">ii")
_FLEXIBLE_RESPONSE_HEAD: Final = Struct(">iix")


class FrameReceiver:
    """Cuts a stream of bytes into frames: fill `buffer()`, say how much with `received(count)`.

    Receivers that are filled in turn may share one scratch buffer: nothing stays in it between `received` and the
    next `buffer`, so ten thousand idle connections need one.
    """

    def __init__(
        self, max_bytes: int = DEFAULT_MAX_BYTES, *, scratch: bytearray | None = None
    ) -> None:
        self._max_bytes = max_bytes
        self._scratch = bytearray(SCRATCH_BYTES) if scratch is None else scratch
        assert len(self._scratch) > INT32.size + _OWN_BUFFER_FROM_BYTES
        self._begun = b""
        """What has arrived of a small frame."""
        self._frame = bytearray()
        self._frame_end = 0
        self._frame_size = -1
        self._trusted_bytes = _FIRST_CHUNK_BYTES
        self._lent: memoryview | None = None
        self.failure: FrameSizeError | None = None
        """Why no more frames will come; raised by the next `received`."""

    def buffer(self) -> memoryview:
        """Where the next bytes go; never empty, valid until `received` is called."""
        if self._lent is not None:
            self._lent.release()
        if self._frame_size < 0:
            begun = len(self._begun)
            if begun:
                self._scratch[:begun] = self._begun
            lent = memoryview(self._scratch)[begun:]
        else:
            lent = memoryview(self._frame)[self._frame_end :]
        self._lent = lent
        return lent

    def received(self, count: int) -> list[Bytes]:
        """The frames that are complete now that `count` more bytes are in the buffer."""
        if self.failure is not None:
            raise self.failure
        if self._lent is not None:
            self._lent.release()
            self._lent = None
        if self._frame_size < 0:
            return self._cut(len(self._begun) + count)
        self._frame_end += count
        if self._frame_end == self._frame_size:
            frame, self._frame = self._frame, bytearray()
            self._trusted_bytes = max(self._trusted_bytes, min(self._frame_size, _TRUSTED_BYTES))
            self._frame_size = -1
            return [frame]
        if self._frame_end == len(self._frame):
            missing = self._frame_size - self._frame_end
            self._frame += bytes(min(missing, self._frame_end))
        return []

    @property
    def pending_bytes(self) -> int:
        """How much has arrived of a frame that is not complete."""
        return len(self._begun) if self._frame_size < 0 else self._frame_end

    def _cut(self, end: int) -> list[Bytes]:
        frames: list[Bytes] = []
        start = 0
        with memoryview(self._scratch) as scratch:
            while end - start >= INT32.size:
                (size,) = INT32.unpack_from(scratch, start)
                begin = start + INT32.size
                if 0 <= size <= end - begin and size <= self._max_bytes:
                    start = begin + size
                    frames.append(scratch[begin:start].tobytes())
                    continue
                if not 0 <= size <= self._max_bytes:
                    self._refuse(size, after=frames)
                elif size >= _OWN_BUFFER_FROM_BYTES:
                    self._give_own_buffer(scratch[begin:end], size)
                else:
                    break
                start = end
            self._begun = scratch[start:end].tobytes() if start < end else b""
        return frames

    def _refuse(self, size: int, *, after: list[Bytes]) -> None:
        """The frames before the refused one are still given out."""
        self.failure = FrameSizeError(f"a frame of {size} bytes; the bound is {self._max_bytes}")
        if not after:
            raise self.failure

    def _give_own_buffer(self, arrived: memoryview, size: int) -> None:
        self._frame = bytearray(min(size, self._trusted_bytes))
        self._frame[: len(arrived)] = arrived
        self._frame_end = len(arrived)
        self._frame_size = size


class Spoken:
    """One version of one API: how its requests are read and its responses written."""

    __slots__ = (
        "_carries_records",
        "_encode_into",
        "_is_flexible",
        "api",
        "decode_body",
        "version",
    )

    def __init__(self, api: Api, version: int) -> None:
        self.api = api
        self.version = version
        self._is_flexible = api.response_header_version(version) == 1
        if self.is_supported:
            request_class, response_class = REQUESTS[api.key]
            self.decode_body: Callable[[Bytes, int], tuple[Any, int]] = codec(
                request_class, version
            ).decode
            self._encode_into = codec(response_class, version).encode_into
            self._carries_records = _carries_records(response_class)

    @property
    def is_supported(self) -> bool:
        """False for an ApiVersions request of a version that is not served, which gets an answer all the same."""
        return self.api.lowest <= self.version <= self.api.highest

    def encode(self, correlation_id: int, response: Any) -> list[Any]:
        """The frame of a response, in few pieces, sizes and header in front."""
        parts: list[Any] = []
        self._encode_into(response, parts.append)
        head = _FLEXIBLE_RESPONSE_HEAD if self._is_flexible else _RESPONSE_HEAD
        if self._carries_records:
            size = head.size - INT32.size + sum(map(len, parts))
            return join_small([head.pack(size, correlation_id), *parts])
        body = b"".join(parts)
        start = head.pack(head.size - INT32.size + len(body), correlation_id)
        return [start + body] if len(body) < JOIN_BELOW_BYTES else [start, body]


class Request(NamedTuple):
    """A request whose header was read; its body is still bytes."""

    spoken: Spoken
    correlation_id: int
    client_id: str | None
    frame: Bytes
    body_position: int

    @property
    def api(self) -> Api:
        return self.spoken.api

    @property
    def version(self) -> int:
        return self.spoken.version

    @property
    def is_supported(self) -> bool:
        """See Spoken."""
        return self.spoken.is_supported

    def decode(self) -> Any:
        """The body, as the class that `REQUESTS` names for the API."""
        return self.spoken.decode_body(self.frame, self.body_position)[0]

    def encode_response(self, response: Any) -> list[Any]:
        """The frame that answers this request."""
        return self.spoken.encode(self.correlation_id, response)


_SPOKEN: Final[dict[tuple[Listener, bool], dict[int, Spoken]]] = {}
"""What has been spoken so far, by the number that its requests begin with: codecs are made on first use."""


class ServerFraming:
    """The serving side of one connection: bytes in, requests out."""

    def __init__(
        self,
        listener: Listener,
        *,
        max_bytes: int = DEFAULT_MAX_BYTES,
        unstable_versions: bool = False,
        scratch: bytearray | None = None,
    ) -> None:
        self._listener = listener
        self._unstable_versions = unstable_versions
        self._spoken = _SPOKEN.setdefault((listener, unstable_versions), {})
        self.receiver = FrameReceiver(max_bytes, scratch=scratch)
        self.buffer = self.receiver.buffer
        self.frames = self.receiver.received
        """The frames that are complete, for whoever reads one request at a time with `parse`."""

    def received(self, count: int) -> list[Request]:
        """The requests that are complete; an error means that the connection must be closed."""
        return [self.parse(frame) for frame in self.receiver.received(count)]

    def parse(self, frame: Bytes) -> Request:
        """Read the header of a request and check that its API and version are served here."""
        try:
            key_and_version, correlation_id, length = _REQUEST_HEAD.unpack_from(frame)
            spoken = self._spoken.get(key_and_version) or self._served(key_and_version)
            position = _REQUEST_HEAD.size
            client_id = None
            if length >= 0:
                end = position + length
                if end > len(frame):
                    raise ProtocolError("its client id is longer than the frame")
                client_id = str(frame[position:end], "utf-8")
                position = end
            if spoken.version >= spoken.api.flexible:
                if frame[position]:
                    count, position = read_uvarint(frame, position)
                    _, position = read_tags(frame, position, count)
                else:
                    position += 1
        except (IndexError, struct_error, Malformed, UnicodeDecodeError) as failure:
            raise ProtocolError(f"a request header cannot be read: {failure}") from failure
        return Request(spoken, correlation_id, client_id, frame, position)

    def _served(self, key_and_version: int) -> Spoken:
        key, version = _KEY_AND_VERSION.unpack(key_and_version.to_bytes(4, "big"))
        api = APIS.get(key)
        if api is None or self._listener not in api.listeners:
            raise UnsupportedVersionError(f"API {key} is not served on this listener")
        highest = api.highest if self._unstable_versions else api.highest_stable
        if key == ApiKey.API_VERSIONS and not api.lowest <= version <= highest:
            return Spoken(api, version)
        if not api.lowest <= version <= highest:
            raise UnsupportedVersionError(
                f"versions {api.lowest} to {highest} are served, not {version}", where=api.name
            )
        spoken = self._spoken[key_and_version] = Spoken(api, version)
        return spoken


class Response(NamedTuple):
    """A response matched with its request; its body is still bytes."""

    api: Api
    version: int
    correlation_id: int
    frame: Bytes
    body_position: int

    def decode(self) -> Any:
        """The body. A refusal of an ApiVersions version is written in version 0, and read so."""
        _, response_class = REQUESTS[self.api.key]
        version = self.version
        if self.api.key == ApiKey.API_VERSIONS and self._is_refusal():
            version = 0
        return codec(response_class, version).decode(self.frame, self.body_position)[0]

    def _is_refusal(self) -> bool:
        if len(self.frame) < self.body_position + INT16.size:
            return False
        (error,) = INT16.unpack_from(self.frame, self.body_position)
        return bool(error == ErrorCode.UNSUPPORTED_VERSION)


class ClientFraming:
    """The asking side of one connection: requests to bytes, bytes to responses in their order."""

    def __init__(self, client_id: str | None, *, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        encoded = b"" if client_id is None else client_id.encode()
        self._client_id = INT16.pack(-1 if client_id is None else len(encoded)) + encoded
        self._receiver = FrameReceiver(max_bytes)
        self._awaited: deque[tuple[int, Api, int]] = deque()
        self._next_correlation_id = 0
        self.buffer = self._receiver.buffer

    @property
    def awaited(self) -> int:
        """How many responses are still to come."""
        return len(self._awaited)

    def encode_request(
        self, request: Any, version: int, *, expects_response: bool = True
    ) -> tuple[int, list[Any]]:
        """The correlation id of a request, and its frame in few pieces."""
        api = APIS[declaration_of(type(request)).key or 0]
        correlation_id = self._next_correlation_id
        body = codec(type(request), version).buffers(request)
        header = b"".join(
            (
                INT16.pack(api.key),
                INT16.pack(version),
                INT32.pack(correlation_id),
                self._client_id,
                b"\0" if version >= api.flexible else b"",
            )
        )
        self._next_correlation_id = (correlation_id + 1) & 0x7FFF_FFFF
        if expects_response:
            self._awaited.append((correlation_id, api, version))
        return correlation_id, _framed(header, body)

    def received(self, count: int) -> list[Response]:
        """The responses that are complete; an error means that the connection must be closed."""
        return [self._match(frame) for frame in self._receiver.received(count)]

    def _match(self, frame: Bytes) -> Response:
        if not self._awaited:
            raise ProtocolError("a response that nobody asked for")
        expected, api, version = self._awaited.popleft()
        try:
            (correlation_id,) = INT32.unpack_from(frame)
            position = INT32.size
            if api.response_header_version(version) == 1:
                count, position = read_uvarint(frame, position)
                _, position = read_tags(frame, position, count)
        except (IndexError, struct_error, Malformed) as failure:
            raise ProtocolError(f"a response header cannot be read: {failure}") from failure
        if correlation_id != expected:
            raise ProtocolError(
                f"a response to request {correlation_id} where {expected} was due", where=api.name
            )
        return Response(api, version, correlation_id, frame, position)


def api_versions_refusal(correlation_id: int) -> bytes:
    """The frame that answers an ApiVersions version from the future: our range, in version 0."""
    api = APIS[ApiKey.API_VERSIONS]
    entry = INT16.pack(api.key) + INT16.pack(api.lowest) + INT16.pack(api.highest)
    body = INT16.pack(ErrorCode.UNSUPPORTED_VERSION) + INT32.pack(1) + entry
    return _RESPONSE_HEAD.pack(INT32.size + len(body), correlation_id) + body


def _framed(header: bytes, body: list[Any]) -> list[Any]:
    size = len(header) + sum(map(len, body))
    first = INT32.pack(size) + header
    if body and isinstance(body[0], bytes) and len(body[0]) < JOIN_BELOW_BYTES:
        return [first + body[0], *body[1:]]
    return [first, *body]


def _carries_records(cls: type) -> bool:
    """Whether some field of a message is record batches, which are not copied."""
    types = [one.type for one in fields_of(cls)]
    while types:
        wire_type = types.pop()
        if isinstance(wire_type, Array):
            types.append(wire_type.element)
        elif isinstance(wire_type, Nested):
            types += [one.type for one in fields_of(wire_type.of)]
        elif isinstance(wire_type, Variable) and wire_type.name == "records":
            return True
    return False
