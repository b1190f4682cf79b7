"""`quire group list`."""

from __future__ import annotations

from typing import Any

import click

from quire.clients.cluster import Cluster
from quire.clients.coordinators import ask_everybody
from quire.protocol.messages.list_groups import ListGroupsRequest
from quire.tools.asking import Addresses, asked, bootstrap_option
from quire.tools.showing import format_option, show_rows

STATES = (
    "Empty", "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling", "Stable",
    "NotReady", "Dead",
)  # fmt: skip
TYPES = ("classic", "consumer", "share", "streams")


async def rows(
    cluster: Cluster, states: tuple[str, ...], types: tuple[str, ...]
) -> list[dict[str, Any]]:
    """The groups of all coordinators, by name."""
    request = ListGroupsRequest(states_filter=list(states), types_filter=list(types))
    answers = await ask_everybody(cluster, request, "the groups")
    found = [
        {
            "group": one.group_id,
            "state": one.group_state,
            "type": one.group_type.lower(),
            "protocol": one.protocol_type or None,
            "coordinator": node_id,
        }
        for node_id, answer in answers.items()
        for one in answer.groups
    ]
    return sorted(found, key=lambda one: (one["group"], one["coordinator"]))


@click.command("list")
@bootstrap_option
@click.option(
    "--state", "states", multiple=True, type=click.Choice(STATES, case_sensitive=False),
    help="Only groups in this state; may be repeated.",
)  # fmt: skip
@click.option(
    "--type", "types", multiple=True, type=click.Choice(TYPES, case_sensitive=False),
    help="Only groups of this type; may be repeated.",
)  # fmt: skip
@format_option
def list_groups(
    bootstrap: Addresses, states: tuple[str, ...], types: tuple[str, ...], form: str
) -> None:
    """List the groups."""
    found = asked(bootstrap, lambda cluster: rows(cluster, states, types))
    show_rows(found, form, empty="no such groups" if states or types else "no groups")
