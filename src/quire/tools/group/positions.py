"""Where a group is in each partition, and how far behind: in records, and in seconds.

The lag in seconds is the age of the first record that is not read yet, by the timestamp that it has in the log; nothing
left is 0, and what cannot be known (no offset, no leader, no readable record) is None.

Invariants
  I1  A lag is never below 0: an offset behind the end of a log (it was cut, or made anew) is 0 behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from quire.clients.cluster import Cluster
from quire.clients.coordinators import PATIENCE_SECONDS, Kind, ask_coordinator
from quire.clients.errors import ClientError, NotSpokenError, expect
from quire.clients.offsets import EARLIEST, LATEST, leaders_of, offsets_at
from quire.clients.reader import Reader
from quire.errors import CorruptBatchError, ErrorCode
from quire.protocol.messages.metadata import MetadataResponseTopic
from quire.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)
from quire.tools.group.members import Group, Member
from quire.types import TopicPartition

NOTHING: Final = -1
GROUPS_SINCE: Final = 8
BY_NAME_UNTIL: Final = 9
ONE_BATCH: Final = 1
TRIES: Final = 20
"""How many batches without a record (markers, what compaction emptied) are looked through."""
AT_ONCE: Final = 16


class Position(NamedTuple):
    """One partition of a group."""

    place: TopicPartition
    committed: int | None
    start: int | None
    end: int | None
    first_unread_ms: int | None
    member: Member | None

    @property
    def lag(self) -> int | None:
        """How many offsets are left to read."""
        if self.committed is None or self.end is None:
            return None
        return max(self.end - self.committed, 0)

    def lag_seconds(self, now_ms: int) -> float | None:
        """How old the first record that is not read yet is."""
        if self.lag is None or self.lag == 0:
            return None if self.lag is None else 0.0
        if self.first_unread_ms is None:
            return None
        return max(now_ms - self.first_unread_ms, 0) / 1000


async def committed_offsets(
    cluster: Cluster, group: str, *, patience_seconds: float = PATIENCE_SECONDS
) -> dict[TopicPartition, int]:
    """What a group has committed, in order; nothing for a group that is not there."""

    async def ask(node_id: int) -> dict[TopicPartition, int]:
        connection = await cluster.broker(node_id)
        version = connection.version_of(OffsetFetchRequest, at_most=BY_NAME_UNTIL)
        if version < GROUPS_SINCE:
            raise NotSpokenError(f"broker {node_id} is too old to be asked for a group's offsets")
        wanted = OffsetFetchRequestGroup(group_id=group, topics=None)
        answer: OffsetFetchResponse = await connection.ask(
            OffsetFetchRequest(groups=[wanted]), version=version
        )
        (found,) = answer.groups
        if found.error_code == ErrorCode.GROUP_ID_NOT_FOUND:
            return {}
        expect(found.error_code, f"offsets of group {group}")
        return dict(
            sorted(
                (TopicPartition(topic.name, one.partition_index), one.committed_offset)
                for topic in found.topics
                for one in topic.partitions
                if one.error_code == ErrorCode.NONE and one.committed_offset != NOTHING
            )
        )

    return await ask_coordinator(cluster, Kind.GROUP, group, ask, patience_seconds=patience_seconds)


async def topics_named(cluster: Cluster, names: Iterable[str]) -> dict[str, MetadataResponseTopic]:
    """Those that are there."""
    answer = await cluster.refresh(sorted(set(names)))
    return {one.name or "": one for one in answer.topics if one.error_code == ErrorCode.NONE}


async def bounds_of(
    cluster: Cluster,
    topics: Mapping[str, MetadataResponseTopic],
    places: Iterable[TopicPartition],
) -> dict[TopicPartition, tuple[int, int]]:
    """Where the log of each partition begins and ends, of those that have a leader."""
    wanted: dict[str, list[int]] = {}
    for place in places:
        topic = topics.get(place.topic)
        if topic is not None and leaders_of(topic).get(place.partition, -1) >= 0:
            wanted.setdefault(place.topic, []).append(place.partition)
    found = {}
    for name, partitions in sorted(wanted.items()):
        starts = await offsets_at(cluster, topics[name], dict.fromkeys(partitions, EARLIEST))
        ends = await offsets_at(cluster, topics[name], dict.fromkeys(partitions, LATEST))
        for partition in partitions:
            found[TopicPartition(name, partition)] = (starts[partition], ends[partition])
    return found


async def positions_of(
    cluster: Cluster,
    group: Group,
    chosen: Callable[[TopicPartition], bool] = lambda _place: True,
    *,
    is_timed: bool = True,
) -> list[Position]:
    """Every chosen partition that the group has committed in or whose member reads it, in order."""
    committed = await committed_offsets(cluster, group.name)
    owners = group.owners()
    places = sorted(place for place in {**committed, **owners} if chosen(place))
    topics = await topics_named(cluster, [place.topic for place in places])
    bounds = await bounds_of(cluster, topics, places)
    unread = {}
    if is_timed:
        behind = {
            place: max(committed[place], start)
            for place, (start, end) in bounds.items()
            if place in committed and max(committed[place], start) < end
        }
        unread = await first_times(cluster, topics, behind)
    found = []
    for place in places:
        start, end = bounds.get(place, (None, None))
        found.append(
            Position(place, committed.get(place), start, end, unread.get(place), owners.get(place))
        )
    return found


async def first_times(
    cluster: Cluster,
    topics: Mapping[str, MetadataResponseTopic],
    offsets: Mapping[TopicPartition, int],
) -> dict[TopicPartition, int]:
    """The timestamp of the first record at each offset or behind it, where it can be read."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def look(place: TopicPartition, offset: int) -> tuple[TopicPartition, int | None]:
        async with gate:
            try:
                return place, await _first_time(cluster, topics[place.topic], place, offset)
            except (ClientError, CorruptBatchError, TimeoutError):
                return place, None

    found = await asyncio.gather(*(look(place, offset) for place, offset in offsets.items()))
    return {place: time for place, time in found if time is not None}


async def _first_time(
    cluster: Cluster, topic: MetadataResponseTopic, place: TopicPartition, offset: int
) -> int | None:
    reader = Reader(cluster, topic, max_bytes=ONE_BATCH)
    for _ in range(TRIES):
        for fetched in await reader.fetch({place.partition: offset}, max_wait_ms=0):
            if fetched.records:
                return fetched.records[0].timestamp
            if fetched.next_offset == offset:
                return None
            offset = fetched.next_offset
    return None


def row(one: Position, now_ms: int) -> dict[str, Any]:
    """What a table shows of it."""
    return {
        "topic": one.place.topic,
        "partition": one.place.partition,
        "committed": one.committed,
        "end": one.end,
        "lag": one.lag,
        "lag_seconds": one.lag_seconds(now_ms),
        "member": None if one.member is None else one.member.member_id,
    }


def total_lag(positions: Iterable[Position]) -> int:
    """Of all partitions of which it is known."""
    return sum(one.lag or 0 for one in positions)


def longest_lag(positions: Iterable[Position], now_ms: int) -> float | None:
    """The lag in seconds of the partition that is farthest behind; None when none is known."""
    known = [one.lag_seconds(now_ms) for one in positions]
    return max((seconds for seconds in known if seconds is not None), default=None)
