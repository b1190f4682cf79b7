"""What an assignor is told of members and topics, and what it answers.

Invariants
  I1  Partitions of an assignment are in ascending order, and no topic without any stands in it.
Not here   how partitions are shared out (uniform, ranges).
See        KIP-848
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

Assignment = Mapping[bytes, tuple[int, ...]]
"""Partitions by the id of their topic."""
NOTHING: Final[Assignment] = {}


class Subscriber(NamedTuple):
    """A member, as far as it matters here."""

    topics: frozenset[bytes]
    """What it subscribes to, of the topics that there are."""
    assigned: Assignment = NOTHING
    """What it was given last."""
    instance_id: str | None = None


def in_order(members: Mapping[str, Subscriber]) -> list[str]:
    """Member ids: static members by their instance, then the others by their own id."""
    return sorted(members, key=lambda one: _rank(one, members[one].instance_id))


def _rank(member_id: str, instance_id: str | None) -> tuple[bool, str]:
    return (True, member_id) if instance_id is None else (False, instance_id)


def assignment_of(partitions: Iterable[tuple[bytes, int]]) -> Assignment:
    """The same, topic by topic (I1)."""
    found: dict[bytes, list[int]] = {}
    for topic_id, partition in sorted(partitions):
        found.setdefault(topic_id, []).append(partition)
    return {topic_id: tuple(partitions) for topic_id, partitions in found.items()}
