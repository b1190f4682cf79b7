"""`quire config set` and `quire config unset`."""

from __future__ import annotations

import click

from quire.clients.cluster import Cluster
from quire.clients.errors import expect
from quire.config.alter import Operation
from quire.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from quire.tools.asking import Addresses, asked, bootstrap_option, pairs
from quire.tools.config.entity import Entity, EntityType


async def alter(cluster: Cluster, entity: Entity, changes: list[AlterableConfig]) -> None:
    """Change settings of one resource, all or none."""
    resource = AlterConfigsResource(
        resource_type=entity.resource_type, resource_name=entity.name, configs=changes
    )
    answer: IncrementalAlterConfigsResponse = await cluster.ask(
        IncrementalAlterConfigsRequest(resources=[resource], validate_only=False),
        node_id=entity.node_id,
    )
    for one in answer.responses:
        expect(one.error_code, f"settings of {entity}", one.error_message)


@click.command("set")
@click.argument("entity", type=EntityType())
@click.argument("settings", nargs=-1, required=True, metavar="NAME=VALUE...")
@bootstrap_option
def set_config(entity: Entity, settings: tuple[str, ...], bootstrap: Addresses) -> None:
    """Set settings.

    ENTITY is topic:NAME, broker:ID, brokers (all of them), group:NAME or client-metrics:NAME.
    """
    changes = [
        AlterableConfig(name=name, config_operation=Operation.SET, value=value)
        for name, value in pairs(settings).items()
    ]
    asked(bootstrap, lambda cluster: alter(cluster, entity, changes))
    click.echo(f"{entity}: {', '.join(one.name for one in changes)} set")


@click.command("unset")
@click.argument("entity", type=EntityType())
@click.argument("names", nargs=-1, required=True)
@bootstrap_option
def unset_config(entity: Entity, names: tuple[str, ...], bootstrap: Addresses) -> None:
    """Take back what was set.

    Afterwards the next layer counts again: that of all brokers, the file, the default.
    """
    changes = [
        AlterableConfig(name=name, config_operation=Operation.DELETE, value=None) for name in names
    ]
    asked(bootstrap, lambda cluster: alter(cluster, entity, changes))
    click.echo(f"{entity}: {', '.join(names)} unset")
