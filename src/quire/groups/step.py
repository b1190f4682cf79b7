"""What one command, or one timer, comes to, while it is being decided.

Not here   what is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from quire.coordination import Answer, Decision, KeyValue, Moment, Ticket, Timer


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsSettings:
    """What groups need of a broker's settings."""

    initial_rebalance_delay_ms: int = 3_000
    session_timeout_ms_min: int = 6_000
    session_timeout_ms_max: int = 1_800_000
    group_size_max: int = 2**31 - 1
    metadata_bytes_max: int = 4_096
    offsets_retention_ms: int = 7 * 24 * 60 * 60_000
    offsets_check_interval_ms: int = 600_000


@dataclass(slots=True)
class Step:
    """The circumstances, and what has come of them so far."""

    moment: Moment
    settings: GroupsSettings
    draw: Callable[[int], bytes]
    """So many random bytes."""
    records: list[KeyValue] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    timers: list[Timer] = field(default_factory=list)

    def answer(self, ticket: Ticket, response: Any) -> None:
        self.answers.append(Answer(ticket, response))

    def timer(self, key: Hashable, after_ms: int | None) -> None:
        self.timers.append(Timer(key, after_ms))

    def decision(self) -> Decision:
        return Decision(tuple(self.records), answers=tuple(self.answers), timers=tuple(self.timers))
