"""`quire group export`: a group's offsets as a file that `quire group reset --from-file` reads."""

from __future__ import annotations

import csv
import io

import click

from quire.clients.cluster import Cluster
from quire.clients.errors import AnswerError
from quire.errors import ErrorCode
from quire.tools.asking import Addresses, asked, bootstrap_option
from quire.tools.group.positions import committed_offsets
from quire.tools.places import Place, PlaceType, any_holds
from quire.tools.showing import JSON, TEXT, show_rows
from quire.types import TopicPartition

CSV = "csv"


async def exported(
    cluster: Cluster, name: str, places: tuple[Place, ...]
) -> dict[TopicPartition, int]:
    """What it has committed there; AnswerError when that is nothing."""
    found = await committed_offsets(cluster, name)
    chosen = {place: offset for place, offset in found.items() if any_holds(places, place)}
    if not chosen:
        raise AnswerError(
            ErrorCode.GROUP_ID_NOT_FOUND, f"group {name}", "it has no committed offsets there"
        )
    return chosen


def as_csv(offsets: dict[TopicPartition, int]) -> str:
    """A line of topic,partition,offset for each."""
    text = io.StringIO()
    rows = ((place.topic, place.partition, offset) for place, offset in offsets.items())
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


@click.command("export")
@click.argument("name", metavar="GROUP")
@bootstrap_option
@click.option(
    "--topic", "places", type=PlaceType(), multiple=True, help="Only these topics or partitions."
)
@click.option(
    "--format", "form", type=click.Choice([CSV, JSON, TEXT]), default=CSV, show_default=True
)
def export_group(name: str, bootstrap: Addresses, places: tuple[Place, ...], form: str) -> None:
    """Write down a group's offsets.

    Lines of topic,partition,offset on standard output: `quire group reset --from-file` takes them back.
    """
    found = asked(bootstrap, lambda cluster: exported(cluster, name, places))
    if form == CSV:
        click.echo(as_csv(found), nl=False)
        return
    rows = [
        {"topic": place.topic, "partition": place.partition, "offset": offset}
        for place, offset in found.items()
    ]
    show_rows(rows, form)
