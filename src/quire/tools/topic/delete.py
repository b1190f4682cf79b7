"""`quire topic delete`."""

from __future__ import annotations

import click

from quire.clients.cluster import Cluster
from quire.clients.errors import expect
from quire.protocol.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from quire.protocol.schema import ZERO_UUID
from quire.tools.asking import Addresses, asked, bootstrap_option

TIMEOUT_MS = 30_000


async def delete(cluster: Cluster, names: tuple[str, ...]) -> None:
    """Delete them all; the first refusal is raised when all were tried."""
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in names],
        topic_names=list(names),
        timeout_ms=TIMEOUT_MS,
    )
    answer: DeleteTopicsResponse = await cluster.ask(request)
    for one in answer.responses:
        expect(one.error_code, f"topic {one.name}", one.error_message)


@click.command("delete")
@click.argument("names", nargs=-1, required=True)
@bootstrap_option
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def delete_topics(names: tuple[str, ...], bootstrap: Addresses, yes: bool) -> None:  # noqa: FBT001
    """Delete topics.

    All their records are gone then.
    """
    if not yes:
        click.confirm(f"delete {', '.join(names)} with all records?", abort=True)
    asked(bootstrap, lambda cluster: delete(cluster, names))
    for name in names:
        click.echo(f"topic {name} deleted")
