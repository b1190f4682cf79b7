"""The real network: raw non-blocking sockets on an asyncio loop, under the frame-level owners of the broker.

A wake-up reads straight into the owner's buffer, and what the owner sends meanwhile leaves in one system call at its
end. A short stretch of a file is read into that same call; a long one goes by sendfile, never through Python.

Invariants
  I1  What leaves is the concatenation of what was sent, whatever the socket takes at a time.
  I2  One wake-up reads at most READS_PER_WAKE_UP buffers: a busy peer does not starve the others.
  I3  The socket is closed exactly once; `closed` is told after that, from the loop, never from inside `send`.
  I4  A long stretch of a file that has become shorter than promised ends the stream: no length was ever sent wrong.
Not here   frames (protocol.connection), TLS, limits on connections (the broker).
See        docs/decisions/0010-sockets-under-our-own-streams.md, docs/decisions/0015-one-epoll-inside-the-loop.md
"""

from __future__ import annotations

import asyncio
import errno
import os
import select
import socket
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol, cast

from quire.ports.disk import Bytes, File
from quire.ports.network import Accept, Address, FileRange, Listening, Owner, Sendable, Stream

READS_PER_WAKE_UP = 4
SENDFILE_FROM_BYTES = 128 << 10
"""Below this, reading and sending together costs fewer system calls than sendfile does."""
SEND_BYTES = 1 << 20
"""How much goes into one call at most: enough to fill a socket's buffer."""
BUFFERS_PER_SEND = 512
BACKLOG = 1024
ACCEPTS_PER_WAKE_UP = 64
STREAMS_PER_WAKE_UP = 256


class _Descriptor(Protocol):
    def fileno(self) -> int: ...


class _Readers:
    """Who reads which socket: one epoll of our own, which the loop sees as one reader.

    A wake-up of the loop then serves all sockets that have something, without a handle for each of them. Where there
    is no epoll, the loop's own readers do.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._reading: dict[int, Callable[[], None]] = {}
        self._epoll: select.epoll | None = None

    def add(self, descriptor: int, on_readable: Callable[[], None]) -> None:
        if not hasattr(select, "epoll"):
            self.loop.add_reader(descriptor, on_readable)
            return
        if self._epoll is None:
            self._epoll = select.epoll()
            self.loop.add_reader(self._epoll.fileno(), self._on_readable)
        self._reading[descriptor] = on_readable
        self._epoll.register(descriptor, select.EPOLLIN)

    def remove(self, descriptor: int) -> None:
        if self._epoll is None:
            self.loop.remove_reader(descriptor)
            return
        del self._reading[descriptor]
        self._epoll.unregister(descriptor)
        if not self._reading:
            self.loop.remove_reader(self._epoll.fileno())
            self._epoll.close()
            self._epoll = None

    def _on_readable(self) -> None:
        assert self._epoll is not None
        for descriptor, _ in self._epoll.poll(0, STREAMS_PER_WAKE_UP):
            on_readable = self._reading.get(descriptor)
            if on_readable is not None:  # else one of the others has just ended it
                on_readable()


class SocketStream:
    """One connected socket."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, connected: socket.socket, readers: _Readers
    ) -> None:
        self._loop = loop
        self._readers = readers
        self._socket = connected
        self._descriptor = connected.fileno()
        self.local = _address(connected.getsockname())
        self.peer = _address(connected.getpeername())
        self._owner: Owner | None = None
        self._unsent: deque[Bytes | FileRange] = deque()
        self.unsent_bytes = 0
        self._reading = False
        self._in_wake_up = False
        self._flush_is_due = False
        self._waiting_to_write = False
        self._closing = False
        self._ended = False

    def __repr__(self) -> str:
        return f"SocketStream({self.local} - {self.peer})"

    def start(self, owner: Owner) -> None:
        """Begin to read; once."""
        self._owner = owner
        self.resume_reading()

    def send(self, parts: Iterable[Sendable]) -> None:
        if self._ended or self._closing:
            return
        for part in parts:
            self._unsent.append(part)
            self.unsent_bytes += _size(part)
        if not (self._in_wake_up or self._flush_is_due or self._waiting_to_write):
            self._flush_is_due = True
            self._loop.call_soon(self._flush)

    def pause_reading(self) -> None:
        if self._reading:
            self._reading = False
            self._readers.remove(self._descriptor)

    def resume_reading(self) -> None:
        if not (self._reading or self._closing or self._ended):
            self._reading = True
            self._readers.add(self._descriptor, self._on_readable)

    def close(self) -> None:
        if not self._ended:
            self._closing = True
            self.pause_reading()
            if not (self._in_wake_up or self._flush_is_due or self._waiting_to_write):
                self._flush_is_due = True
                self._loop.call_soon(self._flush)

    def abort(self) -> None:
        if not self._ended:
            linger_for_nothing = b"\1\0\0\0\0\0\0\0"  # struct linger {1, 0}: the peer sees a reset
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_for_nothing)
            self._end(None)

    def _on_readable(self) -> None:
        owner = self._owner
        assert owner is not None
        self._in_wake_up = True
        try:
            for _ in range(READS_PER_WAKE_UP):
                buffer = owner.buffer()
                try:
                    count = self._socket.recv_into(buffer)
                except (BlockingIOError, InterruptedError):
                    break
                if not count:
                    self._end(None)
                    return
                filled = count == buffer.nbytes
                owner.received(count)
                if not filled or not self._reading:
                    break
        except OSError as error:
            self._end(error)
            return
        except Exception as error:  # noqa: BLE001 -- the owner's, handed back to it
            self._end(error)
            return
        finally:
            self._in_wake_up = False
        if (self._unsent or self._closing) and not self._waiting_to_write:
            self._flush()

    def _on_writable(self) -> None:
        self._flush()

    def _flush(self) -> None:
        """Send until everything has left or the socket takes no more (I1)."""
        self._flush_is_due = False
        if self._ended:
            return
        waited = self._waiting_to_write
        try:
            if len(self._unsent) == 1 and self._unsent[0].__class__ is bytes:
                self._left(self._socket.send(self._unsent[0]))  # as nearly always
            while self._unsent:
                if not self._send_some():
                    self._wait_to_write()
                    return
        except (BlockingIOError, InterruptedError):
            self._wait_to_write()
            return
        except OSError as error:
            self._end(error)
            return
        self._stop_waiting()
        if self._closing:
            self._end(None)
        elif waited and self._owner is not None:
            self._owner.drained()

    def _send_some(self) -> bool:
        """One system call; False when the socket took less than it was given."""
        first = self._unsent[0]
        if not isinstance(first, _BYTES) and first.size >= SENDFILE_FROM_BYTES:
            return self._send_file(first)
        buffers: list[Bytes] = []
        size = 0
        for part in self._unsent:
            if not isinstance(part, _BYTES):
                if part.size >= SENDFILE_FROM_BYTES:
                    break
                part = _read(part)  # noqa: PLW2901 -- it takes the stretch's place
            buffers.append(part)
            size += _size(part)
            if size >= SEND_BYTES or len(buffers) == BUFFERS_PER_SEND:
                break
        for number, buffer in enumerate(buffers):
            self._unsent[number] = buffer
        sent = self._socket.sendmsg(buffers)
        self._left(sent)
        return sent == size

    def _send_file(self, part: FileRange) -> bool:
        file = cast("_Descriptor", part.file)  # a real file has one
        sent = os.sendfile(self._descriptor, file.fileno(), part.position, part.size)
        if not sent:
            raise OSError(errno.EIO, f"the file ends before byte {part.position}", part.file.path)
        self.unsent_bytes -= sent
        self._unsent.popleft()
        if sent < part.size:
            self._unsent.appendleft(_Rest(part.file, part.position + sent, part.size - sent))
        return True

    def _left(self, sent: int) -> None:
        self.unsent_bytes -= sent
        while sent:
            first = self._unsent[0]
            assert isinstance(first, _BYTES)
            size = _size(first)
            if sent < size:
                self._unsent[0] = memoryview(first).cast("B")[sent:]
                return
            sent -= size
            self._unsent.popleft()
        while self._unsent and isinstance(self._unsent[0], _BYTES) and not self._unsent[0]:
            self._unsent.popleft()

    def _wait_to_write(self) -> None:
        if not self._waiting_to_write:
            self._waiting_to_write = True
            self._loop.add_writer(self._descriptor, self._on_writable)

    def _stop_waiting(self) -> None:
        if self._waiting_to_write:
            self._waiting_to_write = False
            self._loop.remove_writer(self._descriptor)

    def _end(self, reason: Exception | None) -> None:
        """Close the socket, and tell the owner from the loop (I3)."""
        if self._ended:
            return
        self._ended = True
        self.pause_reading()
        self._stop_waiting()
        self._unsent.clear()
        self.unsent_bytes = 0
        self._socket.close()
        if self._owner is not None:
            self._loop.call_soon(self._owner.closed, reason)


_BYTES = (bytes, bytearray, memoryview)


def _size(part: Sendable) -> int:
    if part.__class__ is bytes:
        return len(part)
    if isinstance(part, memoryview):
        return part.nbytes
    return len(part) if isinstance(part, bytearray | bytes) else part.size


class _Rest(NamedTuple):
    """What is left of a stretch of a file."""

    file: File
    position: int
    size: int


class SocketListening:
    """A listening socket."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        bound: socket.socket,
        accept: Accept,
        readers: _Readers,
    ) -> None:
        self._loop = loop
        self._readers = readers
        self._socket = bound
        self._accept = accept
        self.address = _address(bound.getsockname())
        loop.add_reader(bound.fileno(), self._on_readable)

    def close(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket.fileno())
            self._socket.close()

    def _on_readable(self) -> None:
        for _ in range(ACCEPTS_PER_WAKE_UP):
            try:
                connected, _ = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                    self._rest()
                    return
                raise
            try:
                _open_stream(self._loop, connected, self._accept, self._readers)
            except OSError:
                connected.close()  # the peer has gone before it was greeted

    def _rest(self) -> None:
        """Out of descriptors: leave those who knock in the backlog for a moment."""
        self._loop.remove_reader(self._socket.fileno())
        self._loop.call_later(1.0, self._resume)

    def _resume(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.add_reader(self._socket.fileno(), self._on_readable)


class RealNetwork:
    """The machine's sockets, on the running loop."""

    def __init__(self, *, send_buffer_bytes: int = -1, receive_buffer_bytes: int = -1) -> None:
        self._sizes = (
            (socket.SO_SNDBUF, send_buffer_bytes),
            (socket.SO_RCVBUF, receive_buffer_bytes),
        )
        self._readers: _Readers | None = None

    def listen(self, address: Address, accept: Accept) -> Listening:
        family = _family(address)
        bound = socket.socket(family, socket.SOCK_STREAM)
        try:
            bound.setblocking(False)  # noqa: FBT003 -- the standard library's signature
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._set_sizes(bound)
            bound.bind((address.host, address.port))
            bound.listen(BACKLOG)
        except OSError as error:
            bound.close()
            raise OSError(error.errno, f"{error.strerror}: {address}") from error
        loop = asyncio.get_running_loop()
        return SocketListening(loop, bound, accept, self._readers_of(loop))

    async def connect(self, address: Address, accept: Accept) -> Stream:
        loop = asyncio.get_running_loop()
        connecting = socket.socket(_family(address), socket.SOCK_STREAM)
        try:
            connecting.setblocking(False)  # noqa: FBT003
            self._set_sizes(connecting)
            await loop.sock_connect(connecting, (address.host, address.port))
            return _open_stream(loop, connecting, accept, self._readers_of(loop))
        except OSError as error:
            connecting.close()
            known = error.errno is not None and error.errno > 0
            reason = os.strerror(error.errno) if known and error.errno else error.strerror
            raise OSError(error.errno, f"{reason}: {address}") from error
        except asyncio.CancelledError:
            connecting.close()
            raise

    def _readers_of(self, loop: asyncio.AbstractEventLoop) -> _Readers:
        if self._readers is None or self._readers.loop is not loop:
            self._readers = _Readers(loop)
        return self._readers

    def _set_sizes(self, one: socket.socket) -> None:
        for option, size in self._sizes:
            if size > 0:
                one.setsockopt(socket.SOL_SOCKET, option, size)


def _open_stream(
    loop: asyncio.AbstractEventLoop,
    connected: socket.socket,
    accept: Accept,
    readers: _Readers,
) -> SocketStream:
    connected.setblocking(False)  # noqa: FBT003
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream = SocketStream(loop, connected, readers)
    stream.start(accept(stream))
    return stream


def _read(part: FileRange) -> Bytes:
    data = part.file.read(part.position, part.size)
    if len(data) != part.size:
        raise OSError(
            errno.EIO, f"the file ends before byte {part.position + part.size}", part.file.path
        )
    return data


def _family(address: Address) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address.host else socket.AF_INET


def _address(name: tuple[str, int] | tuple[str, int, int, int]) -> Address:
    return Address(name[0], name[1])
