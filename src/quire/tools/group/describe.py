"""`quire group describe`."""

from __future__ import annotations

from typing import Any

import click

from quire.clients.cluster import Cluster
from quire.runtime.clock import RealClock
from quire.tools.asking import Addresses, asked, bootstrap_option
from quire.tools.group.members import Group, find_group
from quire.tools.group.positions import longest_lag, positions_of, row, total_lag
from quire.tools.places import Place, PlaceType, any_holds
from quire.tools.showing import JSON, format_option, show_one, show_rows


async def describe(
    cluster: Cluster, name: str, places: tuple[Place, ...], now_ms: int
) -> dict[str, Any]:
    """A group, its members, and where it is in each partition."""
    group = await find_group(cluster, name)
    positions = await positions_of(cluster, group, lambda place: any_holds(places, place))
    return {
        "group": group.name,
        "state": group.state,
        "type": group.type,
        "protocol": group.protocol,
        "epoch": group.epoch,
        "coordinator": group.coordinator,
        "lag": total_lag(positions),
        "lag_seconds": longest_lag(positions, now_ms),
        "members": member_rows(group),
        "partitions": [row(one, now_ms) for one in positions],
    }


def member_rows(group: Group) -> list[dict[str, Any]]:
    """A line for each member."""
    return [
        {
            "member": one.member_id,
            "instance": one.instance_id,
            "client": one.client_id,
            "host": one.host,
            "has": [str(place) for place in one.partitions],
        }
        for one in group.members
    ]


@click.command("describe")
@click.argument("names", metavar="GROUP...", nargs=-1, required=True)
@bootstrap_option
@click.option(
    "--topic", "places", type=PlaceType(), multiple=True, help="Only this topic's partitions."
)
@format_option
def describe_groups(
    names: tuple[str, ...], bootstrap: Addresses, places: tuple[Place, ...], form: str
) -> None:
    """Show groups closely.

    Members and what each has; for each partition the committed offset, the end of its log, and the lag: in records,
    and in seconds since the first record that is not read yet was written.
    """
    now_ms = RealClock().wall_ms()

    async def all_of_them(cluster: Cluster) -> list[dict[str, Any]]:
        return [await describe(cluster, name, places, now_ms) for name in names]

    found = asked(bootstrap, all_of_them)
    if form == JSON:
        show_rows(found, form)
        return
    for number, one in enumerate(found):
        members, partitions = one.pop("members"), one.pop("partitions")
        if number:
            click.echo()
        show_one(one, form)
        click.echo()
        show_rows(members, form, empty="no members")
        click.echo()
        show_rows(partitions, form, empty="no committed offsets")
