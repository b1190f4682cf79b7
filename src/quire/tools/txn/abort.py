"""`quire txn abort`: write the marker that nobody else will write.

Invariants
  I1  A transaction that its coordinator still has in hand is left to it, unless the user insists: the coordinator would
      go on in what we ended.
See   KIP-664
"""

from __future__ import annotations

from typing import Any, Final

import click

from quire.clients.cluster import Cluster
from quire.clients.errors import expect
from quire.clients.offsets import leaders_of
from quire.errors import QuireError
from quire.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from quire.tools.asking import Addresses, SettingError, asked, bootstrap_option
from quire.tools.places import PartitionType, Place
from quire.tools.showing import JSON, format_option, moment, show_one
from quire.tools.txn.producers import writers_into
from quire.tools.txn.transactions import find_transaction, list_transactions
from quire.tools.txn.writers import Writer

NO_EPOCH: Final = 0


class InHandError(QuireError):
    """Somebody else will end it."""


async def find_open(
    cluster: Cluster, place: Place, start_offset: int | None, producer_id: int | None
) -> Writer:
    """The open transaction that is meant; SettingError names those that are there when it is none of them."""
    found = [one for one in await writers_into(cluster, place) if one.begins is not None]
    wanted = [
        one
        for one in found
        if start_offset in (None, one.begins) and producer_id in (None, one.producer_id)
    ]
    if len(wanted) == 1:
        return wanted[0]
    there = ", ".join(f"producer {one.producer_id} from offset {one.begins}" for one in found)
    where = f"{place.topic}-{(place.partitions or ())[0]}"
    raise SettingError(f"no such transaction is open in {where}; open there: {there or 'none'}")


async def in_hand(cluster: Cluster, writer: Writer) -> str | None:
    """The transactional id whose coordinator will end it; None when nobody will."""
    for one in await list_transactions(cluster, producer_ids=[writer.producer_id]):
        closely = await find_transaction(cluster, one.transactional_id)
        if closely.is_open and writer.place in closely.partitions:
            return one.transactional_id
    return None


async def abort(cluster: Cluster, writer: Writer) -> None:
    """Write the marker; AnswerError when the leader refuses it."""
    topic = await cluster.topic(writer.place.topic)
    marker = WritableTxnMarker(
        producer_id=writer.producer_id,
        producer_epoch=writer.producer_epoch,
        transaction_result=False,
        topics=[
            WritableTxnMarkerTopic(
                name=writer.place.topic, partition_indexes=[writer.place.partition]
            )
        ],
        coordinator_epoch=max(writer.coordinator_epoch, NO_EPOCH),
    )
    answer: WriteTxnMarkersResponse = await cluster.ask(
        WriteTxnMarkersRequest(markers=[marker]),
        node_id=leaders_of(topic)[writer.place.partition],
    )
    code = answer.markers[0].topics[0].partitions[0].error_code
    expect(code, f"the transaction of producer {writer.producer_id} in {writer.place}")


def facts(writer: Writer) -> dict[str, Any]:
    """What is ended."""
    return {
        "partition": str(writer.place),
        "producer_id": writer.producer_id,
        "epoch": writer.producer_epoch,
        "start_offset": writer.begins,
        "last_time": moment(writer.last_ms),
    }


@click.command("abort")
@click.argument("place", metavar="TOPIC:PARTITION", type=PartitionType())
@bootstrap_option
@click.option("--start-offset", type=click.IntRange(0), help="Where the transaction begins.")
@click.option("--producer-id", type=int, help="Whose it is.")
@click.option("--force", is_flag=True, help="Even where its coordinator would end it.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@format_option
def abort_transaction(
    place: Place,
    bootstrap: Addresses,
    start_offset: int | None,
    producer_id: int | None,
    form: str,
    **flags: bool,
) -> None:
    """End a transaction by force.

    One that hangs in a partition, named by --start-offset or --producer-id, as `quire txn find-hanging` shows them.
    """
    if start_offset is None and producer_id is None:
        raise SettingError("one of --start-offset and --producer-id is needed")

    async def look(cluster: Cluster) -> Writer:
        writer = await find_open(cluster, place, start_offset, producer_id)
        owner = None if flags["force"] else await in_hand(cluster, writer)
        if owner is not None:
            raise InHandError(
                f"the coordinator of {owner} has this transaction in hand and will end it; --force"
                " ends it all the same"
            )
        return writer

    writer = asked(bootstrap, look)
    if form != JSON:
        show_one(facts(writer), form)
    if not flags["yes"]:
        click.confirm("abort it? its records will not be read as committed", abort=True, err=True)
    asked(bootstrap, lambda cluster: abort(cluster, writer))
    if form == JSON:
        show_one({**facts(writer), "aborted": True}, form)
    else:
        click.echo("aborted")
