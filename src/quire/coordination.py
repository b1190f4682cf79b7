"""What goes into a coordinator and what comes out of it: groups and transactions are replayed machines of one shape.

A coordinator keeps what one partition of an internal topic says. A command decides; its records are replayed at once
and appended; its answers are given when everything they may depend on is committed.

    decision = coordinator.command(ticket, request, caller, moment)
    append(decision.records)                         as one batch
    coordinator.replay(record, ...)                  each of them
    give(decision.answers)                           when the high watermark has passed the end of the log

Answers may be for earlier tickets: whoever joins a group waits until others have. A coordinator that loses its
partition is thrown away, and whoever waits is told so by the host.

Invariants
  I1  Hard state is the fold of the partition's records; no command and no timer changes it.
  I2  A ticket is answered at most once.
  I3  The same state, request and moment (and draws, where there are any) give the same decision.
Not here   who hosts coordinators (broker.coordinators), groups, transactions.
See        docs/decisions/0013-coordinators-are-replayed-machines.md
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from quire.metadata.image import Image

Ticket: TypeAlias = int
"""Who waits for an answer; drawn by the host."""


class Caller(NamedTuple):
    """Who asks, as far as coordinators are concerned."""

    version: int
    """Of the request."""
    client_id: str = ""
    host: str = ""
    """As it is remembered of members: `/127.0.0.1`."""


class Moment(NamedTuple):
    """When something is decided, and in which picture of the cluster."""

    now_ms: int
    """By the wall clock: it is written into records."""
    image: Image
    elapsed_ms: int = 0
    """By the monotonic clock: deadlines are counted in it."""


class KeyValue(NamedTuple):
    """One record; without a value it takes its key away."""

    key: bytes
    value: bytes | None


class Producer(NamedTuple):
    """Whose transaction a batch belongs to."""

    producer_id: int
    producer_epoch: int


class Answer(NamedTuple):
    """A response, and who waits for it."""

    ticket: Ticket
    response: Any


class Timer(NamedTuple):
    """Call `on_timer(key)` after so long; a later one with the same key replaces it, None takes it away."""

    key: Hashable
    after_ms: int | None


@dataclass(frozen=True, slots=True)
class Decision:
    """What a command, or a timer, comes to."""

    records: tuple[KeyValue, ...] = ()
    """To be appended as one batch, all or none."""
    producer: Producer | None = None
    """The batch is part of this producer's transaction."""
    answers: tuple[Answer, ...] = ()
    timers: tuple[Timer, ...] = ()
    effects: tuple[Any, ...] = ()
    """What else is to be done once the records are committed; the host knows these by their types."""


NOTHING = Decision()


class Coordinator(Protocol):
    """The machine of one partition of an internal topic."""

    def command(self, ticket: Ticket, request: Any, caller: Caller, moment: Moment) -> Decision:
        """What a request comes to."""
        ...

    def replay(self, record: KeyValue, *, offset: int, producer: Producer | None) -> None:
        """Take in one record, whoever wrote it."""
        ...

    def replay_end(self, producer: Producer, *, committed: bool) -> None:
        """A producer's transaction in this partition has ended."""
        ...

    def on_image(self, moment: Moment, deleted_topics: tuple[str, ...]) -> Decision:
        """The picture of the cluster has changed; these topics are gone."""
        ...

    def loaded(self, moment: Moment) -> Decision:
        """Everything that was there is replayed: what is to be done now, timers above all."""
        ...

    def on_timer(self, key: Hashable, moment: Moment) -> Decision:
        """A timer's time has come."""
        ...

    def check(self) -> None:
        """Assert the invariants."""
        ...
