"""The range assignor: the partitions of each topic in order, a range of them for each of its readers.

The first readers have one more where it does not come out even. Topics with the same readers and the same number of
partitions are cut alike, so that partitions of the same number meet in one member.

Invariants
  I1  Every partition that somebody subscribes to has one owner, who subscribes to it.
  I2  Of one topic, no reader has two partitions more than another.
See        KIP-848
"""

from __future__ import annotations

from collections.abc import Mapping

from quire.assignors.subscriptions import Assignment, Subscriber, in_order


def assign(
    members: Mapping[str, Subscriber], partition_counts: Mapping[bytes, int]
) -> dict[str, Assignment]:
    """Who reads what."""
    order = in_order(members)
    shares: dict[str, dict[bytes, tuple[int, ...]]] = {one: {} for one in order}
    for topic_id in sorted(partition_counts):
        readers = [one for one in order if topic_id in members[one].topics]
        if not readers:
            continue
        least, more = divmod(partition_counts[topic_id], len(readers))
        begin = 0
        for number, reader in enumerate(readers):
            end = begin + least + (number < more)
            if end > begin:
                shares[reader][topic_id] = tuple(range(begin, end))
            begin = end
    return dict(shares)
