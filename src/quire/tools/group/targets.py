"""Where a group's offsets are to go: one way to say it, and what it comes to in each partition.

Invariants
  I1  Whatever is asked for, an offset ends up between the beginning and the end of its log.
Not here   writing them (reset).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

from quire.clients.cluster import Cluster
from quire.clients.offsets import EARLIEST, LATEST, offsets_at
from quire.protocol.messages.metadata import MetadataResponseTopic
from quire.tools.asking import SettingError
from quire.tools.group.positions import Position
from quire.tools.span import read_duration, read_moment
from quire.types import TopicPartition

COLUMNS: Final = 3


class Way(Enum):
    """What the number of a target says."""

    OFFSET = "an offset"
    FORWARD = "so many offsets from here"
    TIME = "the first record since, or one of ListOffsets' own times"
    LISTED = "each partition its own"


class Target(NamedTuple):
    """Where to."""

    way: Way
    number: int = 0
    listed: Mapping[TopicPartition, int] = {}


def target_of(options: Mapping[str, Any], *, now_ms: int) -> Target:
    """The one target among the options; SettingError when there is none, or more than one."""
    given = {
        name: value for name, value in options.items() if value is not None and value is not False
    }
    if len(given) != 1:
        names = ", ".join("--" + name.replace("_", "-") for name in options)
        raise SettingError(f"one of {names} is needed" + (", and only one" if given else ""))
    ((name, value),) = given.items()
    match name:
        case "to_offset":
            return Target(Way.OFFSET, value)
        case "to_earliest":
            return Target(Way.TIME, EARLIEST)
        case "to_latest":
            return Target(Way.TIME, LATEST)
        case "by":
            return Target(Way.FORWARD, value)
        case "to_time":
            return Target(Way.TIME, read_moment(value, now_ms=now_ms))
        case "by_duration":
            return Target(Way.TIME, now_ms - read_duration(value))
        case _:
            return Target(Way.LISTED, listed=read_offsets(value))


def read_offsets(lines: Iterable[str]) -> dict[TopicPartition, int]:
    """`topic,partition,offset`, a line for each; SettingError names the line that is none."""
    found = {}
    for number, row in enumerate(csv.reader(lines), 1):
        if not row or row == ["topic", "partition", "offset"]:
            continue
        if len(row) != COLUMNS or not (row[1].isdecimal() and row[2].isdecimal()):
            raise SettingError(f"line {number} is not topic,partition,offset: {','.join(row)}")
        found[TopicPartition(row[0], int(row[1]))] = int(row[2])
    if not found:
        raise SettingError("the file has no offsets")
    return found


async def offsets_for(
    cluster: Cluster,
    topics: Mapping[str, MetadataResponseTopic],
    positions: Iterable[Position],
    target: Target,
) -> dict[TopicPartition, int]:
    """The new offset of each partition (I1); SettingError where there is nothing to go by."""
    positions = list(positions)
    wanted = {}
    if target.way is Way.TIME:
        wanted = await _at_time(cluster, topics, positions, target.number)
    for one in positions:
        if one.start is None or one.end is None:
            raise SettingError(f"{one.place} is not there, or has no leader now")
        if target.way is Way.OFFSET:
            wanted[one.place] = target.number
        elif target.way is Way.LISTED:
            wanted[one.place] = target.listed[one.place]
        elif target.way is Way.FORWARD:
            if one.committed is None:
                raise SettingError(f"{one.place} has no committed offset to go on from")
            wanted[one.place] = one.committed + target.number
        wanted[one.place] = min(max(wanted[one.place], one.start), one.end)
    return wanted


async def _at_time(
    cluster: Cluster,
    topics: Mapping[str, MetadataResponseTopic],
    positions: Iterable[Position],
    time: int,
) -> dict[TopicPartition, int]:
    by_topic: dict[str, dict[int, Position]] = {}
    for one in positions:
        if one.end is not None:
            by_topic.setdefault(one.place.topic, {})[one.place.partition] = one
    found = {}
    for name, partitions in by_topic.items():
        offsets = await offsets_at(cluster, topics[name], dict.fromkeys(partitions, time))
        for number, one in partitions.items():
            end = one.end or 0
            found[one.place] = offsets[number] if offsets[number] >= 0 else end
    return found
