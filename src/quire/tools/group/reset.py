"""`quire group reset`: first what would be, then, with --execute, what is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import click

from quire.clients.cluster import Cluster
from quire.clients.coordinators import Kind, ask_coordinator
from quire.clients.errors import AnswerError, expect
from quire.clients.offsets import leaders_of
from quire.errors import ErrorCode, QuireError
from quire.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from quire.runtime.clock import RealClock
from quire.tools.asking import Addresses, SettingError, asked, bootstrap_option
from quire.tools.group.members import find_group
from quire.tools.group.positions import (
    BY_NAME_UNTIL,
    Position,
    bounds_of,
    committed_offsets,
    topics_named,
)
from quire.tools.group.targets import Target, Way, offsets_for, target_of
from quire.tools.places import Place, PlaceType, any_holds
from quire.tools.showing import JSON, format_option, show_rows
from quire.types import TopicPartition

SHOWN_MEMBERS: Final = 5


class InUseError(QuireError):
    """The group has members: they would go on from where they are, and commit that."""


async def reset(
    cluster: Cluster, name: str, places: tuple[Place, ...], target: Target, *, execute: bool
) -> list[dict[str, Any]]:
    """Where each partition is and where it goes; written only with `execute`."""
    await check_idle(cluster, name)
    committed = await committed_offsets(cluster, name)
    named = [place.topic for place in places]
    listed = [place.topic for place in target.listed]
    topics = await topics_named(cluster, [*named, *listed, *(one.topic for one in committed)])
    for topic in (*named, *listed):
        if topic not in topics:
            raise AnswerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"topic {topic}")
    chosen = _chosen(committed, places, target, {
        TopicPartition(topic, partition)
        for topic, found in topics.items() for partition in leaders_of(found)
    })  # fmt: skip
    if not chosen:
        raise SettingError(f"group {name} has no committed offsets there; --topic names a topic")
    bounds = await bounds_of(cluster, topics, chosen)
    positions = [_position(one, committed, bounds) for one in chosen]
    offsets = await offsets_for(cluster, topics, positions, target)
    if execute:
        await commit(cluster, name, offsets)
    return [
        {
            "topic": one.place.topic,
            "partition": one.place.partition,
            "before": one.committed,
            "after": offsets[one.place],
            "end": one.end,
            "lag_before": one.lag,
            "lag_after": (one.end or 0) - offsets[one.place],
        }
        for one in positions
    ]


def _position(
    place: TopicPartition,
    committed: Mapping[TopicPartition, int],
    bounds: Mapping[TopicPartition, tuple[int, int]],
) -> Position:
    start, end = bounds.get(place, (None, None))
    return Position(place, committed.get(place), start, end, None, None)


def _chosen(
    committed: Mapping[TopicPartition, int],
    places: tuple[Place, ...],
    target: Target,
    there: set[TopicPartition],
) -> list[TopicPartition]:
    """What was listed, or named, or else whatever the group has committed."""
    if target.way is Way.LISTED:
        return sorted(one for one in target.listed if any_holds(places, one))
    if not places:
        return sorted(committed)
    for place in places:
        for partition in place.partitions or ():
            if TopicPartition(place.topic, partition) not in there:
                raise SettingError(f"topic {place.topic} has no partition {partition}")
    return sorted(one for one in there if any_holds(places, one))


async def check_idle(cluster: Cluster, name: str) -> None:
    """InUseError, with who they are, while the group has members; a group that is not there is idle."""
    try:
        group = await find_group(cluster, name)
    except AnswerError as error:
        if error.code is ErrorCode.GROUP_ID_NOT_FOUND:
            return
        raise
    if group.members:
        shown = ", ".join(str(one) for one in group.members[:SHOWN_MEMBERS])
        more = len(group.members) - SHOWN_MEMBERS
        rest = f" and {more} more" if more > 0 else ""
        raise InUseError(f"group {name} has members, stop them first: {shown}{rest}")


async def commit(cluster: Cluster, name: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Write them, as nobody in particular; the first refusal is raised."""
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for place, offset in offsets.items():
        one = OffsetCommitRequestPartition(
            partition_index=place.partition, committed_offset=offset, committed_metadata=""
        )
        topics.setdefault(place.topic, []).append(one)
    request = OffsetCommitRequest(
        group_id=name,
        member_id="",
        topics=[
            OffsetCommitRequestTopic(name=topic, partitions=partitions)
            for topic, partitions in topics.items()
        ],
    )

    async def ask(node_id: int) -> None:
        connection = await cluster.broker(node_id)
        version = connection.version_of(OffsetCommitRequest, at_most=BY_NAME_UNTIL)
        answer: OffsetCommitResponse = await connection.ask(request, version=version)
        for topic in answer.topics:
            for one in topic.partitions:
                where = TopicPartition(topic.name, one.partition_index)
                expect(one.error_code, f"offset of group {name} in {where}")

    await ask_coordinator(cluster, Kind.GROUP, name, ask)


@click.command("reset")
@click.argument("name", metavar="GROUP")
@bootstrap_option
@click.option("--to-offset", type=click.IntRange(0), help="This offset.")
@click.option("--to-earliest", is_flag=True, help="Where each log begins.")
@click.option("--to-latest", is_flag=True, help="Where each log ends.")
@click.option("--by", type=int, help="So many on, or back: --by -100.")
@click.option("--to-time", metavar="TIME", help="The first record since: 2026-01-31T12:00, -1h.")
@click.option("--by-duration", metavar="DURATION", help="The first record of the last 90s, 1h, 7d.")
@click.option(
    "--from-file", type=click.File(encoding="utf-8"),
    help="Lines of topic,partition,offset, as `quire group export` writes them; - is stdin.",
)  # fmt: skip
@click.option(
    "--topic", "places", type=PlaceType(), multiple=True,
    help="Only these; without it, all that the group has committed.",
)  # fmt: skip
@click.option("--execute", is_flag=True, help="Do it; without, it is only shown.")
@format_option
def reset_group(
    name: str,
    bootstrap: Addresses,
    places: tuple[Place, ...],
    execute: bool,  # noqa: FBT001
    form: str,
    **options: Any,
) -> None:
    """Move a group's offsets.

    Shows what would be; --execute does it. A group must have no members; an offset outside of a log becomes its
    beginning or its end.
    """
    target = target_of(options, now_ms=RealClock().wall_ms())
    found = asked(bootstrap, lambda cluster: reset(cluster, name, places, target, execute=execute))
    show_rows(found, form)
    if form != JSON:
        click.echo("done" if execute else "nothing was changed yet: --execute does it")
