"""`quire config describe`."""

from __future__ import annotations

from typing import Any

import click

from quire.clients.cluster import Cluster
from quire.clients.errors import expect
from quire.config.describe import Source
from quire.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from quire.tools.asking import Addresses, asked, bootstrap_option
from quire.tools.config.entity import Entity, EntityType
from quire.tools.showing import format_option, show_rows

HIDDEN = "(hidden)"


async def rows(
    cluster: Cluster, entity: Entity, names: tuple[str, ...], *, everything: bool, docs: bool
) -> list[dict[str, Any]]:
    """The settings of one resource; without `everything`, those that somebody gave a value."""
    resource = DescribeConfigsResource(
        resource_type=entity.resource_type,
        resource_name=entity.name,
        configuration_keys=list(names) or None,
    )
    answer: DescribeConfigsResponse = await cluster.ask(
        DescribeConfigsRequest(resources=[resource], include_documentation=docs),
        node_id=entity.node_id,
    )
    result = answer.results[0]
    expect(result.error_code, f"settings of {entity}", result.error_message)
    found = []
    for one in sorted(result.configs, key=lambda config: config.name):
        if not everything and not names and one.config_source == Source.DEFAULT:
            continue
        row = {
            "setting": one.name,
            "value": HIDDEN if one.is_sensitive else one.value,
            "from": Source(one.config_source).name.lower().replace("_", " "),
            "read only": one.read_only,
        }
        found.append({**row, "meaning": one.documentation} if docs else row)
    return found


@click.command("describe")
@click.argument("entity", type=EntityType())
@click.argument("names", nargs=-1)
@bootstrap_option
@click.option("-a", "--all", "everything", is_flag=True, help="Defaults too.")
@click.option("--docs", is_flag=True, help="What each setting means.")
@format_option
def describe_config(
    entity: Entity,
    names: tuple[str, ...],
    bootstrap: Addresses,
    everything: bool,  # noqa: FBT001
    docs: bool,  # noqa: FBT001
    form: str,
) -> None:
    """Show settings.

    ENTITY is topic:NAME, broker:ID, brokers (all of them), group:NAME or client-metrics:NAME.
    """
    found = asked(
        bootstrap,
        lambda cluster: rows(cluster, entity, names, everything=everything, docs=docs),
    )
    show_rows(found, form, empty="everything has its default (--all shows them)")
