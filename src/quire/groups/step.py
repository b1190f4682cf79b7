"""What one command, or one timer, comes to, while it is being decided.

Not here   what is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from quire.config.group import GroupSettings
from quire.config.layers import valid_values
from quire.coordination import Answer, Decision, KeyValue, Moment, Ticket, Timer
from quire.metadata.image import BROKER, GROUP, Image

CLUSTER: Final = ""
"""All brokers, where settings are those of one."""
ASSIGNMENT_INTERVAL: Final = "group.consumer.assignment.interval.ms"


class ConsumerTiming(NamedTuple):
    """How often, and how soon, things happen in a consumer group."""

    session_ms: int = 45_000
    heartbeat_ms: int = 5_000
    assignment_interval_ms: int = 1_000


class Migration(NamedTuple):
    """Whether groups may change between the classic and the new protocol while they have members."""

    upgrades: bool = True
    downgrades: bool = True


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
    consumer_timing: ConsumerTiming = field(default_factory=ConsumerTiming)
    consumer_group_size_max: int = 2**31 - 1
    consumer_assignors: tuple[str, ...] = ("uniform", "range")
    migration: Migration = field(default_factory=Migration)

    def timing_of(self, group_id: str, image: Image) -> ConsumerTiming:
        """That of one group, which may have settings of its own; the interval may be the cluster's."""
        usual = self.consumer_timing
        interval = image.config(BROKER, CLUSTER).get(ASSIGNMENT_INTERVAL)
        if interval is not None:
            usual = usual._replace(assignment_interval_ms=int(interval))
        texts = image.config(GROUP, group_id)
        if not texts:
            return usual
        own = valid_values(GroupSettings, texts)
        return ConsumerTiming(
            own.get("consumer.session.timeout.ms", usual.session_ms),
            own.get("consumer.heartbeat.interval.ms", usual.heartbeat_ms),
            own.get("consumer.assignment.interval.ms", usual.assignment_interval_ms),
        )


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
