"""`quire node start`."""

from __future__ import annotations

import click

from quire.tools.local import LocalCluster
from quire.tools.node.choosing import node_options


@click.command("start")
@node_options
def start_node(directory: str, number: int | None) -> None:
    """Start a node again where it was."""
    node = LocalCluster.find(directory).node(number)
    node.start()
    click.echo(f"node {node.node} up at {node.bootstrap}")
