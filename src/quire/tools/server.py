"""`quire server`: a node in the foreground, from a file with Apache Kafka's settings."""

from __future__ import annotations

import sys

import click

from quire.runtime.journal import FORMS, PLAIN, StreamJournal
from quire.runtime.server import serve
from quire.tools.settings import properties_of, set_option


@click.command()
@click.option(
    "-c",
    "--config",
    "path",
    required=True,
    type=click.Path(exists=True, dir_okay=False),
    help="A properties file; names and meanings are Apache Kafka's.",
)
@set_option
@click.option(
    "--log-format", type=click.Choice(FORMS), default=PLAIN, show_default=True,
    help="How the lines on standard output look.",
)  # fmt: skip
def server(path: str, overrides: tuple[str, ...], log_format: str) -> None:
    """Run a node in the foreground.

    Its directories must be formatted (quire format). Ctrl+C and SIGTERM stop it cleanly, a second one at once.
    """
    static = properties_of(path, overrides)
    sys.exit(serve(static, StreamJournal(sys.stdout, log_format)))
