"""The command `quire`: one visible table of nouns and verbs; a verb's module is loaded when it is called.

Not here   what a verb does: tools/<noun>/<verb>.py.
See        docs/decisions/0006-command-line.md.
"""

from __future__ import annotations

import importlib
import sys
from typing import NamedTuple

import click

from quire.errors import QuireError


class Verb(NamedTuple):
    """Where a command lives, and the line `--help` shows without loading it."""

    module: str
    attribute: str
    summary: str


VERBS: dict[str, Verb | dict[str, Verb]] = {
    "completion": Verb(
        "quire.tools.completion", "completion", "Print what a shell needs to complete commands."
    ),
    "config": {
        "describe": Verb("quire.tools.config.describe", "describe_config", "Show settings."),
        "set": Verb("quire.tools.config.alter", "set_config", "Set settings."),
        "unset": Verb("quire.tools.config.alter", "unset_config", "Take back what was set."),
    },
    "consume": Verb("quire.tools.consume", "consume", "Show the records of a topic."),
    "doctor": Verb("quire.tools.doctor.examine", "doctor", "Say what is wrong, and what to do."),
    "down": Verb(
        "quire.tools.down", "down", "Stop a cluster on this machine cleanly; its data stays."
    ),
    "format": Verb("quire.tools.format", "format_node", "Make a node's directories ready."),
    "group": {
        "delete": Verb(
            "quire.tools.group.delete", "delete_groups", "Delete groups, or offsets of them."
        ),
        "describe": Verb("quire.tools.group.describe", "describe_groups", "Show groups closely."),
        "export": Verb("quire.tools.group.export", "export_group", "Write down a group's offsets."),
        "list": Verb("quire.tools.group.list", "list_groups", "List the groups."),
        "reset": Verb("quire.tools.group.reset", "reset_group", "Move a group's offsets."),
    },
    "log": {
        "dump": Verb(
            "quire.tools.log.dump", "dump", "Show what is in segments, indexes, snapshots."
        ),
    },
    "node": {
        "kill": Verb("quire.tools.node.kill", "kill_node", "End a node at once, as a crash would."),
        "start": Verb("quire.tools.node.start", "start_node", "Start a node again where it was."),
        "stop": Verb("quire.tools.node.stop", "stop_node", "Stop a node cleanly."),
    },
    "produce": Verb("quire.tools.produce", "produce", "Write records, a line of input each."),
    "server": Verb("quire.tools.server", "server", "Run a node in the foreground."),
    "status": Verb("quire.tools.status", "status", "Show the nodes of a cluster on this machine."),
    "topic": {
        "create": Verb("quire.tools.topic.create", "create_topics", "Make topics."),
        "delete": Verb("quire.tools.topic.delete", "delete_topics", "Delete topics."),
        "describe": Verb("quire.tools.topic.describe", "describe_topics", "Show topics closely."),
        "grow": Verb("quire.tools.topic.grow", "grow_topic", "Give a topic more partitions."),
        "list": Verb("quire.tools.topic.list", "list_topics", "List the topics."),
    },
    "txn": {
        "abort": Verb("quire.tools.txn.abort", "abort_transaction", "End a transaction by force."),
        "describe": Verb(
            "quire.tools.txn.describe", "describe_transactions", "Show transactions closely."
        ),
        "find-hanging": Verb(
            "quire.tools.txn.hanging", "find_hanging", "Find transactions that nobody will end."
        ),
        "list": Verb("quire.tools.txn.list", "list_command", "List the transactions."),
        "producers": Verb(
            "quire.tools.txn.producers", "list_producers", "Show who writes into a partition."
        ),
    },
    "up": Verb("quire.tools.up", "up", "Start a cluster on this machine."),
    "version": Verb("quire.tools.version", "version", "Show version, Python, kernels and codecs."),
}
NOUNS = {
    "config": "Settings of topics, brokers, groups and client metrics.",
    "group": "See consumer groups, move their offsets, delete them.",
    "log": "Look into log directories, offline; Quire's own and Apache Kafka's.",
    "node": "Start, stop and kill single nodes of a cluster on this machine.",
    "topic": "Make, list, describe, grow and delete topics.",
    "txn": "See transactions, find those that hang, end them.",
}


class Table(click.Group):
    """A group whose commands are rows of a table."""

    def __init__(self, rows: dict[str, Verb | dict[str, Verb]], name: str, summary: str) -> None:
        super().__init__(name=name, help=summary)
        self.rows = rows

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return sorted(self.rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        row = self.rows.get(cmd_name)
        if row is None:
            return None
        if isinstance(row, dict):
            return Table(dict(row), cmd_name, NOUNS[cmd_name])
        command: click.Command = getattr(importlib.import_module(row.module), row.attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        lines = [
            (name, NOUNS[name] if isinstance(row, dict) else row.summary)
            for name, row in sorted(self.rows.items())
        ]
        with formatter.section("Commands"):
            formatter.write_dl(lines)


quire = Table(
    VERBS, "quire", "Apache Kafka's system in Python: a real log, its broker and its tools."
)


def main() -> None:
    """Run the command line; a known error is one line on stderr and exit code 1, never a traceback."""
    try:
        quire(prog_name="quire")
    except QuireError as error:
        click.secho(f"quire: {error}", fg="red", err=True)
        sys.exit(1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        click.secho(f"quire: {where}{error.strerror or error}", fg="red", err=True)
        sys.exit(1)
