"""The door to the network: streams of bytes between addresses, told to their owners as they come.

A stream has one owner. What arrives goes straight into a buffer that the owner hands out; what is sent is a list of
buffers and stretches of files, and leaves in order. All calls in both directions happen on the loop's thread.

Promises of every implementation
  - Bytes arrive in the order they were sent, or the stream ends: nothing is lost or doubled in the middle.
  - `closed` is told exactly once, and nothing after it; also when the owner closed the stream itself.
  - An exception of the owner's `received` ends the stream, and is given to `closed`.
Implementations   runtime.network (sockets), sim.network (delays, resets, partitions, by seed).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol, TypeAlias

from quire.ports.disk import Bytes, File


class Address(NamedTuple):
    """A host and a port; port 0 asks for any that is free."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class FileRange(Protocol):
    """A stretch of a file (storage hands them out): sent without anybody having read it."""

    @property
    def file(self) -> File: ...

    @property
    def position(self) -> int: ...

    @property
    def size(self) -> int: ...


Sendable: TypeAlias = Bytes | FileRange


class Owner(Protocol):
    """What a stream tells, and asks for."""

    def buffer(self) -> memoryview:
        """Where the next bytes go; not empty."""
        ...

    def received(self, count: int) -> None:
        """`count` bytes are in the buffer that was handed out last."""
        ...

    def drained(self) -> None:
        """Everything that was sent has left, after some of it had to wait."""
        ...

    def closed(self, reason: Exception | None) -> None:
        """The stream has ended: by the peer or by the owner (None), or by a failure."""
        ...


class Stream(Protocol):
    """One connection."""

    @property
    def local(self) -> Address: ...

    @property
    def peer(self) -> Address: ...

    @property
    def unsent_bytes(self) -> int:
        """What was sent and has not left yet: an owner that lets it grow has no bound on memory."""
        ...

    def send(self, parts: Iterable[Sendable]) -> None:
        """Send `parts` in order. Sends of one wake-up leave together. Nothing happens on an ended stream."""
        ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def close(self) -> None:
        """End the stream once everything sent has left; nothing more is received."""
        ...

    def abort(self) -> None:
        """End the stream now; the peer sees a reset."""
        ...


Accept: TypeAlias = Callable[[Stream], Owner]
"""Told of a new stream, gives its owner."""


class Listening(Protocol):
    """An address on which streams are accepted."""

    @property
    def address(self) -> Address:
        """The true one, port included."""
        ...

    def close(self) -> None:
        """Accept no more; streams that are there go on."""
        ...


class Network(Protocol):
    """One machine's network."""

    def listen(self, address: Address, accept: Accept) -> Listening:
        """Accept streams on `address`. OSError (EADDRINUSE, EADDRNOTAVAIL) when it cannot be had."""
        ...

    async def connect(self, address: Address, accept: Accept) -> Stream:
        """Open a stream to `address`. OSError when nobody is there or nobody answers."""
        ...
