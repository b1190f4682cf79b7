"""`quire log dump`: what is in segments, indexes, snapshots and checkpoints, of Quire's or Apache Kafka's making.

Not here   reading files (readers), judging indexes (checks), the meaning of payloads (decoders).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator

import click

from quire.ports.disk import Disk
from quire.runtime.disk import RealDisk
from quire.tools.log import decoders
from quire.tools.log.checks import index_faults
from quire.tools.log.facts import Fact, fault
from quire.tools.log.readers import Wanted, base_name, reader_of
from quire.tools.log.text import lines

ENTRIES = ("offsetIndexEntry", "timeIndexEntry", "abortedTransaction")


def files_below(disk: Disk, path: str) -> Iterator[str]:
    """The files of a directory that a dump can read, depth first; a file is itself."""
    if not disk.stat(path).is_directory:
        yield path
        return
    for name in disk.list(path):
        inner = f"{path.rstrip('/')}/{name}"
        if disk.stat(inner).is_directory:
            yield from files_below(disk, inner)
        elif reader_of(inner) is not None:
            yield inner


def facts_of(disk: Disk, path: str, *, deep: bool, payloads: bool, decoder: str) -> Iterator[Fact]:
    """All that is to be said of one file."""
    reader = reader_of(path)
    if reader is None:
        yield fault(path, None, "a file of this name is none of a log directory's")
        return
    yield {"kind": "file", "file": path}
    partition = base_name(path.rpartition("/")[0]) or "."
    chosen = decoders.by_name(decoder, partition, base_name(path)) if payloads else None
    yield from reader(disk, path, Wanted(records=deep, payloads=payloads, decoder=chosen))
    yield from index_faults(disk, path)


def show(facts: Iterator[Fact], *, form: str, only_faults: bool) -> Counter[str]:
    """Print facts as they come; how many of each kind there were."""
    seen: Counter[str] = Counter()
    for fact in facts:
        kind = fact["kind"]
        seen[kind] += 1
        if only_faults and kind != "fault":
            continue
        if form == "json":
            click.echo(json.dumps(fact, separators=(",", ":")))
            continue
        for line in lines(fact):
            click.secho(line, fg="red" if kind == "fault" else "cyan" if kind == "file" else None)
    return seen


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--records", "--deep-iteration", "deep", is_flag=True, help="A line for each record.")
@click.option(
    "--payloads", "--print-data-log", is_flag=True, help="Records with key and value, decoded."
)
@click.option(
    "--decoder",
    type=click.Choice(decoders.NAMES),
    default="auto",
    show_default=True,
    help="What the payloads are; auto goes by the partition's name.",
)
@click.option(
    "--check", "--index-sanity-check", is_flag=True,
    help="Print only what is wrong: checksums, indexes, snapshots; then a summary.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def dump(
    paths: tuple[str, ...], *, deep: bool, payloads: bool, decoder: str, check: bool, form: str
) -> None:
    """Show what is in segments, indexes, snapshots.

    PATHS are files, partition directories or whole log directories, of Quire or of Apache Kafka. Nothing is written
    or locked; dump a running node's files only if you can live with a torn last line. The exit code is 1 when
    something is wrong with a file.
    """
    disk = RealDisk()
    seen: Counter[str] = Counter()
    for given in paths:
        for path in files_below(disk, given):
            facts = facts_of(disk, path, deep=deep, payloads=payloads, decoder=decoder)
            seen += show(facts, form=form, only_faults=check)
    if check:
        summary = {
            "kind": "checked",
            "files": seen["file"],
            "batches": seen["batch"],
            "entries": sum(seen[kind] for kind in ENTRIES),
            "faults": seen["fault"],
        }
        click.echo(json.dumps(summary) if form == "json" else lines(summary)[0])
    if seen["fault"]:
        sys.exit(1)
