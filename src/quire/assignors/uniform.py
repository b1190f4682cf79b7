"""The uniform assignor: everybody has the same number of partitions, and as few of them move as can be.

    keep      what a member was given and may still have stays with it; where all subscribe to the same, up to its quota
    place     what nobody has goes to the reader that has the least
    even out  where subscriptions differ: partitions move from who has the most of a topic's readers to who has the
              least, as long as they differ by two or more

Invariants
  I1  Every partition that somebody subscribes to has one owner, who subscribes to it.
  I2  Where all subscribe to the same, no member has two partitions more than another. Where they do not, no single
      move would bring two members closer.
  I3  What is even already does not move: an assignment that is given back comes out unchanged.
See        KIP-54 (stickiness), KIP-848
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heapify, heapreplace

from quire.assignors.subscriptions import Assignment, Subscriber, assignment_of, in_order

Place = tuple[bytes, int]
"""A partition of a topic."""


def assign(
    members: Mapping[str, Subscriber], partition_counts: Mapping[bytes, int]
) -> dict[str, Assignment]:
    """Who reads what."""
    order = in_order(members)
    if not order:
        return {}
    wanted = members[order[0]].topics
    is_same = all(members[one].topics == wanted for one in order)
    shares = _kept(order, members, partition_counts)
    free = _free(members, partition_counts, shares)
    if is_same:
        free = sorted(free + _above_quota(shares, len(free)))
        _fill(shares, free)
    else:
        _place(shares, free, order, members)
        _even_out(shares, order, members)
    return {one: assignment_of(shares[one]) for one in order}


def _kept(
    order: list[str], members: Mapping[str, Subscriber], partition_counts: Mapping[bytes, int]
) -> dict[str, list[Place]]:
    """What each member was given and may still have; of two that were given the same the first keeps it."""
    taken: dict[Place, None] = {}
    shares: dict[str, list[Place]] = {}
    for one in order:
        topics, assigned = members[one].topics, members[one].assigned
        share = shares[one] = []
        for topic_id in sorted(assigned):
            count = partition_counts.get(topic_id, 0) if topic_id in topics else 0
            for partition in assigned[topic_id]:
                place = topic_id, partition
                if partition < count and place not in taken:
                    taken[place] = None
                    share.append(place)
    return shares


def _free(
    members: Mapping[str, Subscriber],
    partition_counts: Mapping[bytes, int],
    shares: Mapping[str, list[Place]],
) -> list[Place]:
    """What somebody subscribes to and nobody has."""
    wanted = frozenset[bytes]().union(*(one.topics for one in members.values()))
    taken = {place for share in shares.values() for place in share}
    return [
        (topic_id, partition)
        for topic_id in sorted(partition_counts)
        if topic_id in wanted
        for partition in range(partition_counts[topic_id])
        if (topic_id, partition) not in taken
    ]


def _above_quota(shares: dict[str, list[Place]], free_count: int) -> list[Place]:
    """Take away what is above a member's quota, the highest partitions first."""
    total = free_count + sum(map(len, shares.values()))
    least, more = divmod(total, len(shares))
    taken = []
    for share in shares.values():
        quota = least
        if more and len(share) > least:
            quota, more = least + 1, more - 1
        taken += share[quota:]
        del share[quota:]
    return taken


def _fill(shares: dict[str, list[Place]], free: list[Place]) -> None:
    """Each member is filled up to its quota, in order; then some have one more."""
    least, more = divmod(len(free) + sum(map(len, shares.values())), len(shares))
    more -= sum(len(share) > least for share in shares.values())
    begin = 0
    for share in shares.values():
        quota = least
        if more > 0 and len(share) <= least:
            quota, more = least + 1, more - 1
        end = begin + max(quota - len(share), 0)
        share.extend(free[begin:end])
        begin = end
    assert begin == len(free), "assignors.uniform I1"


def _place(
    shares: dict[str, list[Place]],
    free: list[Place],
    order: list[str],
    members: Mapping[str, Subscriber],
) -> None:
    """Whatever is free goes to the reader that has the least."""
    readers: list[tuple[int, int, str]] = []
    of_topic = None
    for place in free:
        if place[0] != of_topic:
            of_topic = place[0]
            readers = [
                (len(shares[one]), number, one)
                for number, one in enumerate(order)
                if of_topic in members[one].topics
            ]
            heapify(readers)
        count, number, reader = readers[0]
        shares[reader].append(place)
        heapreplace(readers, (count + 1, number, reader))


def _even_out(
    shares: dict[str, list[Place]], order: list[str], members: Mapping[str, Subscriber]
) -> None:
    """Each move brings two members closer, so that it ends (I2)."""
    wanted = sorted(frozenset[bytes]().union(*(members[one].topics for one in order)))
    sizes = {one: len(shares[one]) for one in order}
    by_topic = {
        topic_id: {one: list[int]() for one in order if topic_id in members[one].topics}
        for topic_id in wanted
    }
    for one in order:
        for topic_id, partition in sorted(shares[one]):
            by_topic[topic_id][one].append(partition)
    has_moved = True
    while has_moved:
        has_moved = False
        for held in by_topic.values():
            while _move_one(held, sizes):
                has_moved = True
    for one in order:
        shares[one] = [
            (topic_id, partition)
            for topic_id, held in by_topic.items()
            for partition in held.get(one, ())
        ]


def _move_one(held: dict[str, list[int]], sizes: dict[str, int]) -> bool:
    """One partition of a topic, from who has the most to who has the least, where it helps."""
    most = max((one for one, mine in held.items() if mine), key=sizes.__getitem__, default=None)
    if most is None:
        return False
    least = min(held, key=sizes.__getitem__)
    if sizes[most] - sizes[least] < 2:
        return False
    held[least].append(held[most].pop())
    sizes[most] -= 1
    sizes[least] += 1
    return True
