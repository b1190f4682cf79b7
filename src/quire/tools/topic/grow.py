"""`quire topic grow`."""

from __future__ import annotations

import click

from quire.clients.cluster import Cluster
from quire.clients.errors import expect
from quire.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from quire.tools.asking import Addresses, asked, bootstrap_option

TIMEOUT_MS = 30_000


async def grow(cluster: Cluster, name: str, partitions: int) -> None:
    """Give a topic that many partitions in all."""
    wanted = CreatePartitionsTopic(name=name, count=partitions, assignments=None)
    answer: CreatePartitionsResponse = await cluster.ask(
        CreatePartitionsRequest(topics=[wanted], timeout_ms=TIMEOUT_MS, validate_only=False)
    )
    for one in answer.results:
        expect(one.error_code, f"topic {one.name}", one.error_message)


@click.command("grow")
@click.argument("name")
@click.argument("partitions", type=click.IntRange(1))
@bootstrap_option
def grow_topic(name: str, partitions: int, bootstrap: Addresses) -> None:
    """Give a topic more partitions.

    PARTITIONS is how many it has afterwards. A key may belong to another partition then than it did before.
    """
    asked(bootstrap, lambda cluster: grow(cluster, name, partitions))
    click.echo(f"topic {name} has {partitions} partitions")
