"""How a member comes from what it holds to what it shall hold (the table is in consumer_states).

    keep     held and in the target
    give     held and not in the target: to be given back first; until the member says that it does not own it any
             more, the member stays in its epoch
    take     in the target and held by nobody
    wait     in the target and held by somebody else

Invariants
  I1  A member is given a partition only when nobody holds it.
  I2  A member has the target's epoch only when it holds nothing that the target takes away.
Not here   when a target is made (consumer_targets), how long it may take (consumer_heartbeat).
See        KIP-848
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from quire.groups.consumer_states import STABLE, UNRELEASED, UNREVOKED
from quire.groups.consumer_values import Held, Holding, Partitions

Owned = Mapping[bytes, frozenset[int]] | None
"""What a member says that it owns; None when it does not say."""


class Goal(NamedTuple):
    """Where a member shall go."""

    epoch: int
    target: Partitions
    is_held: Callable[[bytes, int], bool]
    """Whether a partition that is not the member's is held by somebody."""


def reconcile(holding: Holding, goal: Goal, owned: Owned) -> Holding:
    """The next step; an equal holding when there is none."""
    if holding.state is UNREVOKED:
        if _owns(holding.revoking, owned):
            return holding
        holding = holding._replace(revoking={})
    elif holding.state is STABLE and holding.epoch == goal.epoch and _is_within(holding, goal):
        return holding
    kept, given = _split(holding.assigned, goal.target)
    if given and _owns(given, owned):
        return holding.at(holding.epoch)._replace(state=UNREVOKED, assigned=kept, revoking=given)
    taken, waits = _take(kept, goal)
    state = UNRELEASED if waits else STABLE
    return holding.at(goal.epoch)._replace(state=state, assigned=taken, revoking={})


def _is_within(holding: Holding, goal: Goal) -> bool:
    """Whether it holds nothing of topics that the target has not: it may have unsubscribed since."""
    return all(topic_id in goal.target for topic_id in holding.assigned)


def _owns(held: Held, owned: Owned) -> bool:
    """Whether a member may still own something of what is held; who does not say may."""
    if owned is None:
        return True
    nothing: frozenset[int] = frozenset()
    return any(
        partition in owned.get(topic_id, nothing)
        for topic_id, partitions in held.items()
        for partition in partitions
    )


def _split(assigned: Held, target: Partitions) -> tuple[Held, Held]:
    """What stays and what goes."""
    kept: dict[bytes, Mapping[int, int]] = {}
    given: dict[bytes, Mapping[int, int]] = {}
    for topic_id, partitions in assigned.items():
        wanted = target.get(topic_id, ())
        stay = {one: epoch for one, epoch in partitions.items() if one in wanted}
        go = {one: epoch for one, epoch in partitions.items() if one not in wanted}
        if stay:
            kept[topic_id] = stay
        if go:
            given[topic_id] = go
    return kept, given


def _take(kept: Held, goal: Goal) -> tuple[Held, bool]:
    """With what is free of the target besides (I1), and whether something is not."""
    taken = dict(kept)
    waits = False
    for topic_id, partitions in goal.target.items():
        mine = kept.get(topic_id, {})
        new = {}
        for partition in partitions:
            if partition in mine:
                continue
            if goal.is_held(topic_id, partition):
                waits = True
            else:
                new[partition] = goal.epoch
        if new:
            taken[topic_id] = dict(sorted({**mine, **new}.items()))
    return taken, waits
