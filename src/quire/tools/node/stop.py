"""`quire node stop`."""

from __future__ import annotations

import click

from quire.tools.local import LocalCluster
from quire.tools.node.choosing import node_options


@click.command("stop")
@node_options
def stop_node(directory: str, number: int) -> None:
    """Stop a node cleanly."""
    was_there = LocalCluster.find(directory).node(number).stop()
    click.echo(f"node {number} {'stopped' if was_there else 'was not running'}")
