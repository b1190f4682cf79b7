"""Which brokers were heard of lately: the controller's soft state, lost with its office.

A new controller gives every broker a whole session before it fences anybody.

Invariants
  I1  A session is only prolonged by a heartbeat or a registration, never by the log.
Not here   what fencing does (brokers).
See        KIP-631
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

NO_OFFSET = -1


@dataclass(slots=True)
class Session:
    """What is known of one broker since it was last heard of."""

    last_contact_ms: int
    metadata_offset: int = NO_OFFSET
    """How far the broker has read the metadata log."""
    controlled_shutdown_offset: int = NO_OFFSET
    """Where the records of its controlled shutdown end; others must have read that far."""


class Sessions:
    """The sessions of all brokers."""

    __slots__ = ("_by_broker", "timeout_ms")

    def __init__(self, timeout_ms: int) -> None:
        self.timeout_ms = timeout_ms
        self._by_broker: dict[int, Session] = {}

    def start(self, broker_id: int, now_ms: int) -> None:
        """Begin anew: a registration, or a new controller."""
        self._by_broker[broker_id] = Session(now_ms)

    def touch(self, broker_id: int, now_ms: int, metadata_offset: int) -> Session:
        """A heartbeat came."""
        session = self._by_broker.setdefault(broker_id, Session(now_ms))
        session.last_contact_ms = now_ms
        session.metadata_offset = max(session.metadata_offset, metadata_offset)
        return session

    def end(self, broker_id: int) -> None:
        self._by_broker.pop(broker_id, None)

    def get(self, broker_id: int) -> Session | None:
        return self._by_broker.get(broker_id)

    def is_valid(self, broker_id: int, now_ms: int) -> bool:
        """Whether a broker was heard of within the session timeout."""
        session = self._by_broker.get(broker_id)
        return session is not None and now_ms < session.last_contact_ms + self.timeout_ms

    def due_ms(self, broker_ids: Iterable[int]) -> int | None:
        """When the first of these sessions runs out; None without any."""
        return min(
            (one.last_contact_ms + self.timeout_ms for one in self._of(broker_ids)), default=None
        )

    def lowest_metadata_offset(self, broker_ids: Iterable[int]) -> int | None:
        """How far all of these brokers have read; None without any."""
        return min((one.metadata_offset for one in self._of(broker_ids)), default=None)

    def _of(self, broker_ids: Iterable[int]) -> list[Session]:
        found = (self._by_broker.get(broker_id) for broker_id in broker_ids)
        return [session for session in found if session is not None]
