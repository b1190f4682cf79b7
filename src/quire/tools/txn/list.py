"""`quire txn list`."""

from __future__ import annotations

import click

from quire.tools.asking import Addresses, asked, bootstrap_option
from quire.tools.showing import format_option, show_rows
from quire.tools.span import read_duration
from quire.tools.txn.transactions import ANY_AGE, STATES, list_transactions


@click.command("list")
@bootstrap_option
@click.option(
    "--state", "states", multiple=True, type=click.Choice(STATES, case_sensitive=False),
    help="Only in this state; may be repeated.",
)  # fmt: skip
@click.option(
    "--producer-id", "producer_ids", type=int, multiple=True, help="Only this producer's."
)
@click.option(
    "--running-longer-than", "longer", metavar="DURATION", help="Only longer than 5m, 1h30m.",
)  # fmt: skip
@click.option("--id-pattern", "pattern", help="Only ids that match this expression as a whole.")
@format_option
def list_command(
    bootstrap: Addresses,
    states: tuple[str, ...],
    producer_ids: tuple[int, ...],
    longer: str | None,
    pattern: str | None,
    form: str,
) -> None:
    """List the transactions.

    Every transactional id that a coordinator remembers, whether a transaction is open or not.
    """
    longer_than_ms = ANY_AGE if longer is None else read_duration(longer)
    found = asked(
        bootstrap,
        lambda cluster: list_transactions(
            cluster,
            states=states,
            producer_ids=producer_ids,
            longer_than_ms=longer_than_ms,
            pattern=pattern,
        ),
    )
    show_rows([one._asdict() for one in found], form, empty="no such transactions")
