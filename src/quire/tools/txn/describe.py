"""`quire txn describe`."""

from __future__ import annotations

from typing import Any

import click

from quire.clients.cluster import Cluster
from quire.runtime.clock import RealClock
from quire.tools.asking import Addresses, asked, bootstrap_option
from quire.tools.showing import JSON, format_option, moment, show_one, show_rows
from quire.tools.txn.transactions import Transaction, find_transaction


def facts(one: Transaction, now_ms: int) -> dict[str, Any]:
    """What there is to say of a transactional id."""
    return {
        "transactional_id": one.transactional_id,
        "state": one.state,
        "coordinator": one.coordinator,
        "producer_id": one.producer_id,
        "producer_epoch": one.producer_epoch,
        "timeout_ms": one.timeout_ms,
        "since": moment(one.since_ms),
        "seconds": max(now_ms - one.since_ms, 0) / 1000 if one.is_open else None,
        "partitions": [str(place) for place in one.partitions],
    }


@click.command("describe")
@click.argument("names", metavar="ID...", nargs=-1, required=True)
@bootstrap_option
@format_option
def describe_transactions(names: tuple[str, ...], bootstrap: Addresses, form: str) -> None:
    """Show transactions closely.

    State, epoch, timeout, since when a transaction is open, and the partitions that it has written to.
    """

    async def all_of_them(cluster: Cluster) -> list[Transaction]:
        return [await find_transaction(cluster, name) for name in names]

    transactions = asked(bootstrap, all_of_them)
    now_ms = RealClock().wall_ms()
    found = [facts(one, now_ms) for one in transactions]
    if form == JSON:
        show_rows(found, form)
        return
    for number, one in enumerate(found):
        if number:
            click.echo()
        show_one(one, form)
