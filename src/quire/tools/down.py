"""`quire down`."""

from __future__ import annotations

import click

from quire.tools.local import LocalCluster


@click.command()
@click.option("-d", "--dir", "directory", required=True, help="What `quire up` was told.")
def down(directory: str) -> None:
    """Stop a cluster on this machine cleanly; its data stays."""
    for node in LocalCluster.find(directory).nodes:
        click.echo(f"node {node.node} {'stopped' if node.stop() else 'was not running'}")
