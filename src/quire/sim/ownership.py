"""Who owned which partition of a group, what was committed and what was found committed, and the laws of it.

A history holds only what clients were told, each with the time at which they asked and the time at which they heard.
An owner is a static member by its instance, any other by its member id.

Invariants (the laws)
  O1  No partition has two owners in one generation.
  O2  A committed offset never goes back: what is found is no less than what was acknowledged, or found, before.
  O3  What is found was once committed.
  O4  A member of an earlier generation is refused, its commits and heartbeats, once a later one has an assignment.
  O5  A member that is gone (it left, its session ended, another took its instance) is refused while its coordinator
      goes on: one that begins from its log again may know it still.
  O6  Generations do not go back: who joins is in none that is older than one that was assigned before it asked.
  O7  When all is healed there is one generation in which every partition has one owner; a restart changes no offset.
Not here   what members do (workloads.groups).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from quire.sim.history import Place
from quire.sim.laws import BrokenLawError


class Span(NamedTuple):
    """From asking to hearing the answer, and in which reign of the coordinators."""

    asked: float
    told: float
    reign: int
    """-1 when they began from their logs again in between."""


class Assigned(NamedTuple):
    """A member was given its share."""

    generation: int
    owner: str
    places: tuple[Place, ...]
    join_asked: float
    told: float


class Accepted(NamedTuple):
    """A member was believed: a commit (with what it committed) or a heartbeat (with nothing)."""

    member_id: str
    generation: int
    span: Span
    offsets: dict[Place, int]


class Found(NamedTuple):
    """Somebody asked what is committed."""

    offsets: dict[Place, int]
    span: Span


class Gone(NamedTuple):
    """From then on a member is none any more, as long as its coordinator lives."""

    member_id: str
    told: float
    reign: int


@dataclass(slots=True)
class Ownership:
    """One group's history."""

    places: tuple[Place, ...] = ()
    assigned: list[Assigned] = field(default_factory=list)
    accepted: list[Accepted] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    gone: list[Gone] = field(default_factory=list)
    instances: dict[str, str] = field(default_factory=dict)
    """The member id of each static member, as it was told last."""
    tried: dict[Place, dict[int, None]] = field(default_factory=dict)
    """Every offset that anybody tried to commit."""
    settled: dict[str, tuple[int, tuple[Place, ...]]] = field(default_factory=dict)
    """At the end: each living member with its generation and share."""
    before_restart: dict[Place, int] = field(default_factory=dict)
    after_restart: dict[Place, int] = field(default_factory=dict)

    def judge(self) -> None:
        """Raise BrokenLawError with what is wrong."""
        broken = [one for law in LAWS for one in law(self)]
        if broken:
            more = f" and {len(broken) - 8} more" if len(broken) > 8 else ""
            raise BrokenLawError("; ".join(broken[:8]) + more)


def two_owners(history: Ownership) -> Iterator[str]:
    """O1."""
    owners: dict[tuple[int, Place], str] = {}
    for one in history.assigned:
        for place in one.places:
            owner = owners.setdefault((one.generation, place), one.owner)
            if owner != one.owner:
                yield f"O1 {place} belongs to {owner} and to {one.owner} in {one.generation}"


def gone_back(history: Ownership) -> Iterator[str]:
    """O2."""
    heard = [(one.span.told, one.offsets, "was acknowledged") for one in history.accepted]
    heard += [(one.span.told, one.offsets, "was found") for one in history.found]
    heard.sort(key=lambda one: one[0])
    known: dict[Place, tuple[int, str]] = {}
    at = 0
    for one in sorted(history.found, key=lambda found: found.span.asked):
        while at < len(heard) and heard[at][0] <= one.span.asked:
            _, offsets, how = heard[at]
            for place, offset in offsets.items():
                if offset > known.get(place, (-1, ""))[0]:
                    known[place] = (offset, how)
            at += 1
        for place, offset in one.offsets.items():
            least, how = known.get(place, (-1, ""))
            if offset < least:
                yield f"O2 {place} is at {offset} (asked {one.span.asked:.3f}), {least} {how}"


def never_committed(history: Ownership) -> Iterator[str]:
    """O3."""
    for one in history.found:
        for place, offset in one.offsets.items():
            if offset >= 0 and offset not in history.tried.get(place, {}):
                yield f"O3 {place} is at {offset}, which nobody committed"


def old_generation(history: Ownership) -> Iterator[str]:
    """O4."""
    for one in history.accepted:
        for later in history.assigned:
            if later.generation > one.generation and later.told < one.span.asked:
                yield (
                    f"O4 {one.member_id} of {one.generation} was believed at {one.span.told:.3f}, "
                    f"after {later.generation} was assigned at {later.told:.3f}"
                )
                break


def ghosts(history: Ownership) -> Iterator[str]:
    """O5."""
    gone = {one.member_id: one for one in history.gone}
    for one in history.accepted:
        left = gone.get(one.member_id)
        if left and left.told < one.span.asked and left.reign == one.span.reign >= 0:
            yield f"O5 {one.member_id} was gone at {left.told:.3f}, believed at {one.span.told:.3f}"


def generations_gone_back(history: Ownership) -> Iterator[str]:
    """O6."""
    for one in history.assigned:
        for before in history.assigned:
            if before.told < one.join_asked and before.generation > one.generation:
                yield f"O6 {one.owner} joined {one.generation} after {before.generation}"
                break


def unsettled(history: Ownership) -> Iterator[str]:
    """O7."""
    if len({generation for generation, _ in history.settled.values()}) != 1:
        yield f"O7 the members are not in one generation: {history.settled}"
    owned = sorted(place for _, places in history.settled.values() for place in places)
    if owned != sorted(history.places):
        yield f"O7 of {sorted(history.places)} are owned {owned}"
    if history.before_restart != history.after_restart:
        yield f"O7 a restart made {history.after_restart} of {history.before_restart}"


Law = Callable[[Ownership], Iterator[str]]
LAWS: tuple[Law, ...] = (
    two_owners,
    gone_back,
    never_committed,
    old_generation,
    ghosts,
    generations_gone_back,
    unsettled,
)
