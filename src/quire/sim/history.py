"""What clients sent, were told and saw during a run, and what the logs hold at its end: what the laws judge.

Invariants
  I1  A value is sent once by name: `producer/number`; sending it again (a retry) is the same value.
  I2  `generation` counts power losses: what was seen before one and was not flushed may be gone after it.
Not here   the laws (laws), who does what (workloads).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Place(NamedTuple):
    """One partition."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class Value(NamedTuple):
    """What a record says."""

    producer: str
    number: int

    def text(self) -> bytes:
        return f"{self.producer}/{self.number}".encode()

    @classmethod
    def of(cls, text: bytes | None) -> Value:
        """The value of a record; one that nobody can have sent for what does not look like one."""
        producer, _, number = (text or b"?").decode(errors="replace").rpartition("/")
        return cls(producer, int(number)) if number.isdecimal() else cls("nobody", -1)


class Acknowledged(NamedTuple):
    """A client was told that its record is there."""

    value: Value
    offset: int
    generation: int


class Seen(NamedTuple):
    """A reader was given a record."""

    offset: int
    value: Value
    generation: int


@dataclass(slots=True)
class PartitionHistory:
    """All there is to know of one partition."""

    is_durable: bool
    """Answers wait until the disk has the records."""
    sent: set[Value] = field(default_factory=set)
    may_repeat: set[Value] = field(default_factory=set)
    """Sent again without the protection of a sequence number."""
    acknowledged: list[Acknowledged] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    final: list[tuple[int, Value]] = field(default_factory=list)
    """What the log holds when everything is healed, in its order."""


@dataclass(slots=True)
class History:
    """One run."""

    partitions: dict[Place, PartitionHistory] = field(default_factory=dict)
    topics_promised: dict[str, str] = field(default_factory=dict)
    """Topics whose creation was acknowledged, each with a setting that it was given."""
    topics_found: dict[str, str] = field(default_factory=dict)
    """The same at the end."""
    generation: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    """How often each kind of fault struck."""

    def count_fault(self, name: str) -> None:
        self.faults[name] = self.faults.get(name, 0) + 1
