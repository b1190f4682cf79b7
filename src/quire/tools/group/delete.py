"""`quire group delete`."""

from __future__ import annotations

from typing import Any

import click

from quire.clients.cluster import Cluster
from quire.clients.coordinators import Kind, ask_coordinator
from quire.clients.errors import expect
from quire.errors import ErrorCode
from quire.protocol.messages.delete_groups import DeleteGroupsRequest
from quire.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from quire.tools.asking import Addresses, SettingError, asked, bootstrap_option
from quire.tools.group.positions import committed_offsets
from quire.tools.places import Place, PlaceType, any_holds
from quire.tools.showing import JSON, format_option, show_rows
from quire.types import TopicPartition

WHY = {
    ErrorCode.NON_EMPTY_GROUP: "it has members; stop them first",
    ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC: "its members read this topic; stop them first",
}


async def delete(cluster: Cluster, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Delete them all; the first refusal is raised when all were tried."""
    codes = {}
    for name in names:

        async def ask(node_id: int, name: str = name) -> ErrorCode:
            request = DeleteGroupsRequest(groups_names=[name])
            answer = await cluster.ask(request, node_id=node_id)
            code = ErrorCode.of(answer.results[0].error_code)
            if code.retriable:
                expect(code, f"group {name}")
            return code

        codes[name] = await ask_coordinator(cluster, Kind.GROUP, name, ask)
    for name, code in codes.items():
        expect(code, f"group {name}", WHY.get(code))
    return [{"group": name, "deleted": True} for name in names]


async def forget(cluster: Cluster, name: str, places: tuple[Place, ...]) -> list[dict[str, Any]]:
    """Delete what a group has committed in these places; the first refusal is raised."""
    committed = await committed_offsets(cluster, name)
    chosen = [place for place in committed if any_holds(places, place)]
    if not chosen:
        raise SettingError(f"group {name} has no committed offsets there")
    topics: dict[str, list[OffsetDeleteRequestPartition]] = {}
    for place in chosen:
        one = OffsetDeleteRequestPartition(partition_index=place.partition)
        topics.setdefault(place.topic, []).append(one)
    request = OffsetDeleteRequest(
        group_id=name,
        topics=[
            OffsetDeleteRequestTopic(name=topic, partitions=partitions)
            for topic, partitions in topics.items()
        ],
    )

    async def ask(node_id: int) -> Any:
        answer = await cluster.ask(request, node_id=node_id)
        expect(answer.error_code, f"group {name}", WHY.get(ErrorCode.of(answer.error_code)))
        return answer

    answer = await ask_coordinator(cluster, Kind.GROUP, name, ask)
    for topic in answer.topics:
        for one in topic.partitions:
            place = TopicPartition(topic.name, one.partition_index)
            code = ErrorCode.of(one.error_code)
            expect(code, f"offset of group {name} in {place}", WHY.get(code))
    return [
        {"group": name, "topic": one.topic, "partition": one.partition, "deleted": True}
        for one in chosen
    ]


@click.command("delete")
@click.argument("names", metavar="GROUP...", nargs=-1, required=True)
@bootstrap_option
@click.option(
    "--topic", "places", type=PlaceType(), multiple=True,
    help="Only what was committed for this topic; the group stays.",
)  # fmt: skip
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@format_option
def delete_groups(
    names: tuple[str, ...],
    bootstrap: Addresses,
    places: tuple[Place, ...],
    yes: bool,  # noqa: FBT001
    form: str,
) -> None:
    """Delete groups, or offsets of them.

    Where they were in their topics is forgotten then. A group must have no members.
    """
    if not yes:
        what = f"where {', '.join(names)} are" if places else ", ".join(names)
        click.confirm(f"delete {what}?", abort=True, err=True)

    async def all_of_them(cluster: Cluster) -> list[dict[str, Any]]:
        if not places:
            return await delete(cluster, names)
        return [one for name in names for one in await forget(cluster, name, places)]

    found = asked(bootstrap, all_of_them)
    if form == JSON:
        show_rows(found, form)
        return
    for one in found:
        if places:
            place = TopicPartition(one["topic"], one["partition"])
            click.echo(f"offset of group {one['group']} in {place} deleted")
        else:
            click.echo(f"group {one['group']} deleted")
