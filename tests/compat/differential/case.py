"""One question of the corpus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from quire.protocol.schema import declaration_of

SESSION = -77
"""Stands for the id of the fetch session that was made last, whatever it is in the system that is asked."""
STAND_INS: dict[bytes, str] = {}
"""What stands for a topic's id in a request -> the topic. The systems draw different ids."""


@dataclass(frozen=True)
class Case:
    """A request in each of its versions; what it says may depend on the version."""

    label: str
    make: Callable[[int], Any]
    since: int = 0
    until: int = 99

    def questions(self) -> list[tuple[int, Any]]:
        """Each version, and the request in it."""
        cls = type(self.make(max(self.since, _lowest(self.make, self.since))))
        versions = declaration_of(cls).versions
        return [(v, self.make(v)) for v in versions if self.since <= v <= self.until]


@dataclass(frozen=True)
class Frames:
    """Bytes that are sent as they are, on a connection of their own, and what comes of it."""

    label: str
    sent: bytes
    hangs_up: bool = False
    """Whether nothing more is sent afterwards, which the server is told."""


def case(label: str, request: Any, since: int = 0, until: int = 99) -> Case:
    """`request` is a message, or a function from the version to one."""
    make = request if callable(request) and not hasattr(request, "__slots__") else lambda _: request
    return Case(label, make, since, until)


def id_of(topic: str) -> bytes:
    """Stands for the topic's id, whatever it is in the system that is asked."""
    stand_in = b"\xfe" + blake2b(topic.encode(), digest_size=15).digest()
    STAND_INS[stand_in] = topic
    return stand_in


def _lowest(make: Callable[[int], Any], since: int) -> int:
    return declaration_of(type(make(since))).versions.start
