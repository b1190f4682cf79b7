"""Which transactions were tried, how they ended for whoever tried them, what readers saw, and the laws of it.

An attempt is one transaction of one incarnation of a producer: it takes some inputs in (numbers of a source, whose
committed offset moves with it) and writes values to several partitions. A value names its attempt, so that every record
that is read tells where it came from. Attempts are committed, aborted, or nobody was told (unknown).

Invariants (the laws; the names in brackets are those of Adya and of Jepsen's tests of Kafka)
  T1  Nobody who reads committed data is given a record of an attempt that was not committed (G1a, aborted read).
  T2  All that a committed attempt wrote is there, where it was said to be, and so is what was written in vain for those
      who read everything (lost write).
  T3  Of an attempt that nobody was told about, all or nothing is there (torn transaction).
  T4  Each value is there once, and those of an attempt are in their order (duplicate, reordering).
  T5  Nothing is there that nobody wrote.
  T6  Committed attempts took each input once, without a gap, up to the committed offset (lost and doubled input).
  T7  Nothing of an incarnation that was fenced is done: no record taken, no transaction committed (zombie).
  T8  Nothing is read as committed before its commit was asked for (G1b, precommitted read).
  T9  When all is healed nothing is undecided: the last stable offset is the high watermark.
  T10 Who followed a partition saw what it holds, each offset once, without leaving one out (inconsistent offset, skip).
Not here   what producers and readers do (workloads.transactions). Reads inside a transaction are inputs here (T6), so
           that circular reads (G1c) cannot come up.
See        KIP-98, KIP-447, KIP-890
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from quire.sim.history import Place
from quire.sim.laws import BrokenLawError

NOWHERE = -1


class Ending(Enum):
    """What a producer knows of its attempt."""

    OPEN = "open"
    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


class Written(NamedTuple):
    """Records that were acknowledged."""

    place: Place
    values: tuple[str, ...]
    base_offset: int
    asked: float


@dataclass(slots=True)
class Attempt:
    """One transaction."""

    name: str
    producer: str
    incarnation: int
    first_input: int
    end_input: int
    values: list[tuple[Place, str]] = field(default_factory=list)
    """All that it tried to write, in its order."""
    written: list[Written] = field(default_factory=list)
    commit_asked: float | None = None
    ending: Ending = Ending.OPEN


class Fence(NamedTuple):
    """A later incarnation was told that it is the producer now."""

    producer: str
    incarnation: int
    told: float


class Read(NamedTuple):
    """A record that somebody was given."""

    offset: int
    value: str
    at: float


@dataclass(slots=True)
class Following:
    """What one reader of a partition saw, and how far it came."""

    is_committed: bool
    reads: list[Read] = field(default_factory=list)
    position: int = 0


@dataclass(slots=True)
class Holding:
    """What a partition holds at the end."""

    everything: list[tuple[int, str]] = field(default_factory=list)
    committed: list[tuple[int, str]] = field(default_factory=list)
    high_watermark: int = 0
    last_stable_offset: int = 0


@dataclass(slots=True)
class Atomicity:
    """One run."""

    attempts: list[Attempt] = field(default_factory=list)
    fences: list[Fence] = field(default_factory=list)
    following: dict[tuple[Place, bool], Following] = field(default_factory=dict)
    holding: dict[Place, Holding] = field(default_factory=dict)
    positions: dict[str, int] = field(default_factory=dict)
    """Each producer's committed offset at the end."""

    def judge(self) -> None:
        """Raise BrokenLawError with what is wrong."""
        broken = [one for law in LAWS for one in law(self)]
        if broken:
            more = f" and {len(broken) - 8} more" if len(broken) > 8 else ""
            raise BrokenLawError("; ".join(broken[:8]) + more)

    def by_name(self) -> dict[str, Attempt]:
        return {one.name: one for one in self.attempts}

    def visible(self) -> dict[str, dict[tuple[Place, str], None]]:
        """What is committed at the end, by attempt."""
        found: dict[str, dict[tuple[Place, str], None]] = {}
        for place, holding in self.holding.items():
            for _, value in holding.committed:
                found.setdefault(attempt_of(value), {})[place, value] = None
        return found


def value_of(attempt: str, number: int) -> str:
    """The text of a record."""
    return f"{attempt}/{number}"


def attempt_of(value: str) -> str:
    """Whose record it is."""
    return value.rpartition("/")[0]


def number_of(value: str) -> int:
    return int(value.rpartition("/")[2])


def aborted_reads(history: Atomicity) -> Iterator[str]:
    """T1."""
    attempts = history.by_name()
    for (place, is_committed), following in history.following.items():
        for one in following.reads if is_committed else ():
            attempt = attempts.get(attempt_of(one.value))
            if attempt and attempt.ending in (Ending.ABORTED, Ending.OPEN):
                yield f"T1 {one.value} of {place} was read at {one.at:.3f}: {attempt.ending.value}"
    for name, values in history.visible().items():
        attempt = attempts.get(name)
        if attempt and attempt.ending in (Ending.ABORTED, Ending.OPEN):
            yield f"T1 {list(values)} is there: {attempt.ending.value}"


def lost_writes(history: Atomicity) -> Iterator[str]:
    """T2."""
    visible = history.visible()
    everything = {place: dict(holding.everything) for place, holding in history.holding.items()}
    for attempt in history.attempts:
        if attempt.ending is Ending.COMMITTED:
            found = visible.get(attempt.name, {})
            missing = [one for one in attempt.values if one not in found]
            if missing:
                yield f"T2 of {attempt.name}, committed, {missing} is not there"
        for written in attempt.written:
            if written.base_offset == NOWHERE:
                continue
            for offset, value in enumerate(written.values, written.base_offset):
                held = everything[written.place].get(offset)
                if held != value:
                    yield f"T2 {value} was put at {offset} of {written.place}, where {held} is"


def torn(history: Atomicity) -> Iterator[str]:
    """T3."""
    visible = history.visible()
    for attempt in history.attempts:
        found = visible.get(attempt.name, {})
        if attempt.ending is Ending.UNKNOWN and 0 < len(found) < len(attempt.values):
            yield f"T3 of {attempt.name} are there {list(found)}, of {attempt.values}"


def repeated(history: Atomicity) -> Iterator[str]:
    """T4."""
    for place, holding in history.holding.items():
        last: dict[str, tuple[int, int]] = {}
        for offset, value in holding.everything:
            before, at = last.get(attempt_of(value), (-1, -1))
            if number_of(value) <= before:
                yield f"T4 {value} of {place} at {offset} is behind number {before} at {at}"
            last[attempt_of(value)] = (number_of(value), offset)


def invented(history: Atomicity) -> Iterator[str]:
    """T5."""
    known = {
        (place, value): None for attempt in history.attempts for place, value in attempt.values
    }
    for place, holding in history.holding.items():
        for offset, value in holding.everything:
            if (place, value) not in known:
                yield f"T5 {value} is at {offset} of {place}, and nobody wrote it"


def inputs(history: Atomicity) -> Iterator[str]:
    """T6."""
    visible = history.visible()
    taken: dict[str, list[Attempt]] = {producer: [] for producer in history.positions}
    for attempt in history.attempts:
        if attempt.ending is Ending.COMMITTED or attempt.name in visible:
            taken.setdefault(attempt.producer, []).append(attempt)
    for producer, attempts in taken.items():
        attempts.sort(key=lambda one: one.first_input)
        at, before = 0, "nothing"
        for attempt in attempts:
            if attempt.first_input != at:
                yield (
                    f"T6 {producer}: {attempt.name} took {attempt.first_input} to "
                    f"{attempt.end_input}, {before} ended at {at}"
                )
            at, before = attempt.end_input, attempt.name
        if history.positions.get(producer, 0) != at:
            yield (
                f"T6 {producer} is committed up to {history.positions.get(producer)}, "
                f"and {before} ended at {at}"
            )


def zombies(history: Atomicity) -> Iterator[str]:
    """T7."""
    visible = history.visible()
    for attempt in history.attempts:
        told = min(
            (
                fence.told
                for fence in history.fences
                if fence.producer == attempt.producer and fence.incarnation > attempt.incarnation
            ),
            default=None,
        )
        if told is None:
            continue
        for written in attempt.written:
            if written.asked > told:
                yield f"T7 {attempt.name} was fenced at {told:.3f}, and {written} was taken"
        asked = NOWHERE if attempt.commit_asked is None else attempt.commit_asked
        is_there = attempt.ending is Ending.COMMITTED or attempt.name in visible
        if asked > told and is_there:
            yield f"T7 {attempt.name} was fenced at {told:.3f}, and committed at {asked:.3f}"


def precommitted(history: Atomicity) -> Iterator[str]:
    """T8."""
    attempts = history.by_name()
    for (place, is_committed), following in history.following.items():
        for one in following.reads if is_committed else ():
            attempt = attempts.get(attempt_of(one.value))
            if attempt and (attempt.commit_asked is None or one.at < attempt.commit_asked):
                yield f"T8 {one.value} of {place} was read as committed at {one.at:.3f}, too early"


def undecided(history: Atomicity) -> Iterator[str]:
    """T9."""
    for place, holding in history.holding.items():
        if holding.last_stable_offset != holding.high_watermark:
            yield (
                f"T9 {place} is stable up to {holding.last_stable_offset} of "
                f"{holding.high_watermark}"
            )


def followed(history: Atomicity) -> Iterator[str]:
    """T10."""
    for (place, is_committed), following in history.following.items():
        holding = history.holding[place]
        held = holding.committed if is_committed else holding.everything
        expected = [one for one in held if one[0] < following.position]
        seen = [(one.offset, one.value) for one in following.reads]
        if seen != expected:
            at = next(
                (n for n, (a, b) in enumerate(zip(seen, expected, strict=False)) if a != b),
                min(len(seen), len(expected)),
            )
            kind = "committed" if is_committed else "all"
            yield (
                f"T10 a reader of {kind} of {place} up to {following.position} saw "
                f"{seen[at : at + 2]} where {expected[at : at + 2]} is"
            )
        for before, after in pairwise(following.reads):
            if after.offset <= before.offset:
                yield f"T10 {place}: offset {after.offset} was given after {before.offset}"


Law = Callable[[Atomicity], Iterator[str]]
LAWS: tuple[Law, ...] = (
    aborted_reads,
    lost_writes,
    torn,
    repeated,
    invented,
    inputs,
    zombies,
    precommitted,
    undecided,
    followed,
)
