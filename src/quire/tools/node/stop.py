"""`quire node stop`."""

from __future__ import annotations

import click

from quire.tools.local import LocalCluster
from quire.tools.node.choosing import node_options


@click.command("stop")
@node_options
def stop_node(directory: str, number: int | None) -> None:
    """Stop a node cleanly."""
    node = LocalCluster.find(directory).node(number)
    click.echo(f"node {node.node} {'stopped' if node.stop() else 'was not running'}")
