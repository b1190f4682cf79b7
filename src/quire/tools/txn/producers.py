"""`quire txn producers`."""

from __future__ import annotations

from typing import Any

import click

from quire.clients.cluster import Cluster
from quire.tools.asking import Addresses, asked, bootstrap_option
from quire.tools.places import PartitionType, Place
from quire.tools.showing import format_option, moment, show_rows
from quire.tools.txn.writers import Writer, writers_of
from quire.types import TopicPartition


async def writers_into(cluster: Cluster, place: Place) -> list[Writer]:
    """The producers of one partition."""
    topic = await cluster.topic(place.topic)
    (partition,) = place.partitions or ()
    one = TopicPartition(place.topic, partition)
    return await writers_of(cluster, {place.topic: topic}, [one])


def row(one: Writer) -> dict[str, Any]:
    """What a table shows of a producer."""
    return {
        "producer_id": one.producer_id,
        "epoch": one.producer_epoch,
        "last_sequence": one.last_sequence,
        "last_time": moment(one.last_ms),
        "coordinator_epoch": one.coordinator_epoch if one.coordinator_epoch >= 0 else None,
        "open_since_offset": one.begins,
    }


@click.command("producers")
@click.argument("place", metavar="TOPIC:PARTITION", type=PartitionType())
@bootstrap_option
@format_option
def list_producers(place: Place, bootstrap: Addresses, form: str) -> None:
    """Show who writes into a partition.

    Idempotent and transactional producers that its leader remembers, and where the open transaction of each begins.
    """
    found = asked(bootstrap, lambda cluster: writers_into(cluster, place))
    rows = [row(one) for one in sorted(found, key=lambda one: one.producer_id)]
    show_rows(rows, form, empty="no idempotent producers")
