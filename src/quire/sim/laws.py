"""What must hold of a history of writers and readers, whatever broke meanwhile.

Invariants (the laws, each a function that yields what breaks it)
  L1  What was acknowledged is there, at its offset: after the end of a process always, after a power loss when the
      answer waited for the disk.
  L2  An offset holds one value: what a reader was given is what the log holds, with the same exception.
  L3  An idempotent producer's record is there once, and its records are in the order in which it sent them.
  L4  Nothing is there that nobody sent.
  L5  Offsets ascend without a gap.
  L6  A topic whose creation was acknowledged is there, with its settings.
Not here   what clients do (workloads), invariants inside the node (each machine's `check`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from quire.sim.history import History, PartitionHistory, Value


class BrokenLawError(Exception):
    """A promise was not kept."""


def judge(history: History) -> None:
    """Raise BrokenLawError with everything that is wrong."""
    broken = [*topics_lost(history)]
    for place, partition in history.partitions.items():
        for law in (lost, two_values, repeated, out_of_order, invented, gaps):
            broken += [f"{place}: {one}" for one in law(partition, history.generation)]
    if broken:
        more = f" and {len(broken) - 8} more" if len(broken) > 8 else ""
        raise BrokenLawError("; ".join(broken[:8]) + more)


def lost(partition: PartitionHistory, generation: int) -> Iterator[str]:
    """L1."""
    final = dict(partition.final)
    for value, offset, when in partition.acknowledged:
        if (partition.is_durable or when == generation) and final.get(offset) != value:
            found = final.get(offset)
            yield f"L1 {value.text()!r} was acknowledged at {offset}, where {found} is"


def two_values(partition: PartitionHistory, generation: int) -> Iterator[str]:
    """L2."""
    final = dict(partition.final)
    for offset, value, when in partition.seen:
        if (partition.is_durable or when == generation) and final.get(offset) != value:
            yield f"L2 {value.text()!r} was read at {offset}, where {final.get(offset)} is"


def repeated(partition: PartitionHistory, _generation: int) -> Iterator[str]:
    """L3, once."""
    found: dict[Value, int] = {}
    for offset, value in partition.final:
        if value in found and value not in partition.may_repeat:
            yield f"L3 {value.text()!r} is at {found[value]} and at {offset}"
        found.setdefault(value, offset)


def out_of_order(partition: PartitionHistory, _generation: int) -> Iterator[str]:
    """L3, in order."""
    last: dict[str, int] = {}
    for offset, value in partition.final:
        if value in partition.may_repeat:
            continue
        if value.number < last.get(value.producer, -1):
            yield f"L3 {value.text()!r} at {offset} is behind a later one of its producer"
        last[value.producer] = max(value.number, last.get(value.producer, -1))


def invented(partition: PartitionHistory, _generation: int) -> Iterator[str]:
    """L4."""
    for offset, value in partition.final:
        if value not in partition.sent:
            yield f"L4 {value.text()!r} at {offset} was never sent"


def gaps(partition: PartitionHistory, _generation: int) -> Iterator[str]:
    """L5."""
    offsets = [offset for offset, _ in partition.final]
    for before, after in pairwise(offsets):
        if after != before + 1:
            yield f"L5 offset {before} is followed by {after}"


def topics_lost(history: History) -> Iterator[str]:
    """L6."""
    for topic, setting in history.topics_promised.items():
        found = history.topics_found.get(topic)
        if found != setting:
            yield f"L6 topic {topic} was promised with {setting}, and has {found}"
