"""`quire node kill`."""

from __future__ import annotations

import click

from quire.tools.local import LocalCluster
from quire.tools.node.choosing import node_options


@click.command("kill")
@node_options
def kill_node(directory: str, number: int | None) -> None:
    """End a node at once, as a crash would."""
    node = LocalCluster.find(directory).node(number)
    node.kill()
    click.echo(f"node {node.node} killed")
