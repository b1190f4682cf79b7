"""`quire produce`: lines from the standard input, or given ones, become records."""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click

from quire.clients.cluster import Cluster
from quire.clients.writer import Unsent, Writer
from quire.records.compression import Compression
from quire.runtime.clock import RealClock
from quire.runtime.entropy import RealEntropy
from quire.tools.asking import Addresses, SettingError, asked, bootstrap_option, pairs

RECORDS_PER_WRITE = 5_000
CODECS = [codec.name.lower() for codec in Compression]
PROGRESS_SECONDS = 2.0


def from_lines(lines: Iterable[bytes], separator: bytes | None) -> Iterator[Unsent]:
    """A record for each line; with a separator, what stands before its first one is the key."""
    for number, line in enumerate(lines, 1):
        text = line.removesuffix(b"\n").removesuffix(b"\r")
        if separator is None:
            yield Unsent(None, text)
            continue
        key, found, value = text.partition(separator)
        if not found:
            raise SettingError(f"line {number} has no key: no {separator.decode()!r} in it")
        yield Unsent(key, value)


def from_json(lines: Iterable[bytes]) -> Iterator[Unsent]:
    """A record for each JSON object, as `quire consume --format json` writes them."""
    for number, line in enumerate(lines, 1):
        try:
            fields: dict[str, Any] = json.loads(line)
            headers = fields.get("headers") or {}
            yield Unsent(
                _bytes(fields.get("key")),
                _bytes(fields.get("value")),
                tuple((str(name), _bytes(value)) for name, value in headers.items()),
                fields.get("timestamp"),
                fields.get("partition"),
            )
        except (ValueError, AttributeError) as fault:
            raise SettingError(f"line {number} is not a JSON object: {fault}") from fault


def _bytes(value: Any) -> bytes | None:
    if value is None or isinstance(value, str):
        return None if value is None else value.encode()
    return json.dumps(value).encode()


class _Progress:
    """Says on stderr how far it is, when that takes long."""

    def __init__(self) -> None:
        self.count = 0
        self._said = time.monotonic()

    def add(self, count: int) -> None:
        self.count += count
        now = time.monotonic()
        if now - self._said >= PROGRESS_SECONDS and sys.stderr.isatty():
            click.echo(f"\r{self.count:,} records", err=True, nl=False)
            self._said = now


@click.command()
@click.argument("topic")
@bootstrap_option
@click.option("-m", "--message", "messages", multiple=True, help="This, instead of the input.")
@click.option("-k", "--key", help="The key of every record.")
@click.option("-K", "--key-separator", help="Lines are KEY, this, VALUE.")
@click.option("-H", "--header", "headers", multiple=True, metavar="NAME=VALUE")
@click.option("-p", "--partition", type=click.IntRange(0), help="Instead of by the key.")
@click.option("--json", "as_json", is_flag=True, help="Lines are what consume --format json wrote.")
@click.option("-z", "--compression", type=click.Choice(CODECS), default="none", show_default=True)
@click.option("--acks", type=click.Choice(["0", "1", "all"]), default="all", show_default=True)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing when all went well.")
def produce(topic: str, bootstrap: Addresses, **options: Any) -> None:
    """Write records, a line of input each.

    A topic that is not there is made, where the cluster allows it.
    """
    unsent = _unsent(options)
    acks = -1 if options["acks"] == "all" else int(options["acks"])
    clock, progress = RealClock(), _Progress()

    async def write(cluster: Cluster) -> None:
        found = await cluster.topic(topic, create=True)
        writer = Writer(
            cluster,
            found,
            RealEntropy(),
            acks=acks,
            compression=Compression[options["compression"].upper()],
        )
        for group in _groups(unsent):
            await writer.write(group, now_ms=clock.wall_ms())
            progress.add(len(group))

    asked(bootstrap, write)
    if not options["quiet"]:
        click.echo(f"{progress.count:,} records written to {topic}", err=True)


def _unsent(options: dict[str, Any]) -> Iterator[Unsent]:
    lines: Iterable[bytes] = sys.stdin.buffer
    if options["messages"]:
        lines = [message.encode() for message in options["messages"]]
    elif sys.stdin.isatty():
        click.echo("a line is a record; Ctrl+D ends", err=True)
    if options["as_json"]:
        return from_json(lines)
    separator = options["key_separator"]
    key = options["key"]
    if key is not None and separator is not None:
        raise SettingError("--key and --key-separator exclude each other")
    headers = tuple((name, value.encode()) for name, value in pairs(options["headers"]).items())
    changes: dict[str, Any] = {"headers": headers, "partition": options["partition"]}
    if key is not None:
        changes["key"] = key.encode()
    found = from_lines(lines, None if separator is None else separator.encode())
    return (one._replace(**changes) for one in found)


def _groups(unsent: Iterator[Unsent]) -> Iterator[Sequence[Unsent]]:
    """As many as are worth a request; at a terminal each line by itself."""
    size = 1 if sys.stdin.isatty() else RECORDS_PER_WRITE
    while group := list(itertools.islice(unsent, size)):
        yield group
