"""`quire topic list`."""

from __future__ import annotations

from typing import Any

import click

from quire.clients.cluster import Cluster
from quire.tools.asking import Addresses, asked, bootstrap_option
from quire.tools.showing import format_option, show_rows


async def rows(cluster: Cluster, *, internal: bool) -> list[dict[str, Any]]:
    """What there is, by name."""
    answer = await cluster.refresh(None)
    return [
        {
            "topic": one.name,
            "partitions": len(one.partitions),
            "replicas": max((len(p.replica_nodes) for p in one.partitions), default=0),
            "internal": one.is_internal,
        }
        for one in sorted(answer.topics, key=lambda topic: topic.name or "")
        if internal or not one.is_internal
    ]


@click.command("list")
@bootstrap_option
@click.option("--internal", is_flag=True, help="Internal topics too.")
@format_option
def list_topics(bootstrap: Addresses, internal: bool, form: str) -> None:  # noqa: FBT001
    """List the topics."""
    found = asked(bootstrap, lambda cluster: rows(cluster, internal=internal))
    show_rows(found, form, empty="no topics")
