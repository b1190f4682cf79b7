"""`quire status`."""

from __future__ import annotations

import click

from quire.tools.local import LocalCluster, each
from quire.tools.showing import JSON, format_option, show_one, show_rows


@click.command()
@click.option("-d", "--dir", "directory", required=True, help="What `quire up` was told.")
@format_option
def status(directory: str, form: str) -> None:
    """Show the nodes of a cluster on this machine.

    Each is running, stopped or died.
    """
    cluster = LocalCluster.find(directory)
    rows = list(each(cluster))
    if form == JSON:
        show_one(
            {"cluster": cluster.cluster_id, "directory": cluster.directory, "nodes": rows}, form
        )
        return
    show_rows(rows, form)
