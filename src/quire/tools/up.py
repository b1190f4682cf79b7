"""`quire up`: a node of one's own, in the foreground or beside, kept or thrown away."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile

import click

from quire.config.broker import BrokerSettings
from quire.node.boot import Node
from quire.runtime.journal import StreamJournal
from quire.runtime.processes import this_process
from quire.runtime.server import serve
from quire.tools.asking import SettingError, pairs
from quire.tools.local import LocalCluster, LocalNode, make_or_find
from quire.tools.settings import set_option
from quire.tools.showing import JSON, format_option, show_one

SNIPPETS = """
  quire topic list -b {bootstrap}
  quire produce hello -b {bootstrap}
  quire consume hello start -b {bootstrap}

  # Python
  producer = confluent_kafka.Producer({{"bootstrap.servers": "{bootstrap}"}})
  consumer = kafka.KafkaConsumer("hello", bootstrap_servers="{bootstrap}")

  # Java, and whatever takes properties
  bootstrap.servers={bootstrap}

  # Prometheus, and whoever wants to know how it is
  {pages}/metrics
  {pages}/health
"""


@click.command()
@click.option(
    "-d", "--dir", "directory", help="Where the data is kept; a temporary place if not given."
)
@click.option("-p", "--port", type=click.IntRange(1, 65535), help="9092 if it is free, else any.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where it listens.")
@click.option("-n", "--nodes", type=click.IntRange(1), default=1, show_default=True)
@set_option
@click.option("--detach", is_flag=True, help="Return when it answers; `quire down` stops it.")
@click.option("-v", "--verbose", is_flag=True, help="Show what the node says (else: server.log).")
@format_option
def up(
    directory: str | None,
    port: int | None,
    host: str,
    nodes: int,
    overrides: tuple[str, ...],
    detach: bool,  # noqa: FBT001
    verbose: bool,  # noqa: FBT001
    form: str,
) -> None:
    """Start a cluster on this machine.

    With --dir the data is kept, and the next `quire up` goes on with it; without, everything is gone afterwards.
    Settings are Apache Kafka's, in server.properties or by --set.
    """
    if nodes > 1:
        raise SettingError(f"--nodes {nodes}: one node is all that is served as yet")
    if detach and directory is None:
        raise SettingError("--detach needs --dir: who would throw a temporary one away?")
    place = directory or tempfile.mkdtemp(prefix="quire-")
    try:
        cluster = make_or_find(place, host=host, port=port, settings=pairs(overrides))
        (node,) = cluster.nodes
        for name in BrokerSettings.of(node.settings()).unknown:
            click.echo(f"{name} is no setting that is known; it does nothing", err=True)
        if detach:
            node.start()
            say(cluster, node, form, is_kept=True, is_detached=True)
            return
        code = run_here(cluster, node, form, is_kept=directory is not None, verbose=verbose)
    finally:
        if directory is None:
            shutil.rmtree(place, ignore_errors=True)
    sys.exit(code)


def run_here(
    cluster: LocalCluster, node: LocalNode, form: str, *, is_kept: bool, verbose: bool
) -> int:
    """Run the node in this process until Ctrl+C; the exit code."""

    def on_started(_node: Node) -> None:
        say(cluster, node, form, is_kept=is_kept, is_detached=False)

    node.remember(this_process())
    try:
        with open(node.output, "a", encoding="utf-8") as file:
            journal = StreamJournal(sys.stderr if verbose else file)
            return serve(node.settings(), journal, on_started=on_started, outlives_terminal=is_kept)
    finally:
        if os.path.isdir(node.directory):
            node.forget()


def say(
    cluster: LocalCluster, node: LocalNode, form: str, *, is_kept: bool, is_detached: bool
) -> None:
    """Where it is, and what to do with it."""
    if form == JSON:
        process = node.process
        facts = {
            "bootstrap": node.bootstrap,
            "cluster": cluster.cluster_id,
            "directory": cluster.directory,
            "http": node.pages,
            "pid": process.pid if process is not None else None,
        }
        show_one(facts, form)
        return
    kept = f"kept in {cluster.directory}" if is_kept else "thrown away at the end"
    click.echo(f"{click.style(f'up at {node.bootstrap}', fg='green', bold=True)}, data {kept}")
    click.echo(SNIPPETS.format(bootstrap=node.bootstrap, pages=node.pages))
    click.echo(
        f"`quire down --dir {cluster.directory}` stops it" if is_detached else "Ctrl+C stops it"
    )
