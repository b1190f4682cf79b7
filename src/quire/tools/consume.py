"""`quire consume`: records of a topic, from one place in its log to another, or for ever."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import click

from quire.clients.cluster import Cluster
from quire.clients.offsets import (
    EARLIEST,
    LATEST,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    leaders_of,
    offsets_at,
)
from quire.clients.reader import Reader
from quire.protocol.messages.metadata import MetadataResponseTopic
from quire.records.record import Record
from quire.runtime.clock import RealClock
from quire.tools.asking import Addresses, SettingError, asked, bootstrap_option
from quire.tools.showing import JSON, format_option
from quire.tools.span import END, Point, Span, Where, read_span

FOREVER = 2**63 - 1


def text_line(partition: int, record: Record, *, keys: bool, places: bool) -> str:
    """A record on one line: the value, and what else was asked for before it."""
    parts = []
    if places:
        moment = datetime.fromtimestamp(record.timestamp / 1000, UTC).isoformat(
            timespec="milliseconds"
        )
        parts.append(f"{partition}:{record.offset}\t{moment}")
    if keys:
        parts.append("-" if record.key is None else record.key.decode(errors="replace"))
    parts.append("" if record.value is None else record.value.decode(errors="replace"))
    return "\t".join(parts)


def json_line(topic: str, partition: int, record: Record) -> str:
    """A record as a JSON object on one line; bytes that are no text have their bad ones replaced."""
    return json.dumps(
        {
            "topic": topic,
            "partition": partition,
            "offset": record.offset,
            "timestamp": record.timestamp,
            "key": _text(record.key),
            "value": _text(record.value),
            "headers": {name: _text(value) for name, value in record.headers},
        },
        ensure_ascii=False,
    )


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode(errors="replace")


async def offsets_of(
    cluster: Cluster,
    topic: MetadataResponseTopic,
    point: Point,
    bounds: Mapping[int, tuple[int, int]],
    *,
    isolation: int,
) -> dict[int, int]:
    """The offset in each partition that a point stands for, within the bounds of its log."""
    if point.where is Where.TIME:
        times = dict.fromkeys(bounds, point.number)
        found = await offsets_at(cluster, topic, times, isolation=isolation)
        return {one: found[one] if found[one] >= 0 else bounds[one][1] for one in bounds}
    places = {}
    for partition, (start, end) in bounds.items():
        offset = point.number if point.where is Where.OFFSET else end - point.number
        places[partition] = min(max(offset, start), end)
    return places


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("topic")
@click.argument("span", metavar="[RANGE]", required=False)
@bootstrap_option
@click.option("-p", "--partition", "partitions", type=int, multiple=True, help="Only these.")
@click.option("-f", "--follow", is_flag=True, help="Go on when the end is reached.")
@click.option("-n", "--count", type=click.IntRange(1), help="Stop after so many records.")
@click.option("-k", "--keys", is_flag=True, help="The key before the value.")
@click.option("-o", "--places", is_flag=True, help="Partition, offset and time before it.")
@click.option("--committed", is_flag=True, help="Nothing of open or aborted transactions.")
@format_option
def consume(topic: str, span: str | None, bootstrap: Addresses, **options: Any) -> None:
    """Show the records of a topic.

    RANGE is start, end, -10 (the last ten of each partition), 100:200, @-1h, or @TIME:@TIME; without
    one, new records are shown as they come.
    """
    follow = options["follow"] or span is None
    wanted = Span(END, END) if span is None else read_span(span, now_ms=RealClock().wall_ms())
    if span is None and sys.stderr.isatty():
        click.echo("waiting for new records; a RANGE such as start shows old ones", err=True)
    asked(bootstrap, lambda cluster: _show(cluster, topic, wanted, follow=follow, options=options))


async def _show(
    cluster: Cluster, name: str, span: Span, *, follow: bool, options: Mapping[str, Any]
) -> None:
    topic = await cluster.topic(name)
    isolation = READ_COMMITTED if options["committed"] else READ_UNCOMMITTED
    partitions = _chosen(topic, options["partitions"])
    starts = await offsets_at(cluster, topic, dict.fromkeys(partitions, EARLIEST))
    ends = await offsets_at(cluster, topic, dict.fromkeys(partitions, LATEST), isolation=isolation)
    bounds = {one: (starts[one], ends[one]) for one in partitions}
    positions = await offsets_of(cluster, topic, span.begin, bounds, isolation=isolation)
    if follow and span.end == END:
        stops = dict.fromkeys(partitions, FOREVER)
    else:
        stops = await offsets_of(cluster, topic, span.end, bounds, isolation=isolation)
    reader = Reader(cluster, topic, isolation=isolation)
    left = options["count"] or FOREVER
    while left:
        open_ones = {one: at for one, at in positions.items() if at < stops[one]}
        if not open_ones:
            return
        for fetched in await reader.fetch(open_ones):
            positions[fetched.partition] = fetched.next_offset
            records = [r for r in fetched.records if r.offset < stops[fetched.partition]][:left]
            left -= len(records)
            _print(name, fetched.partition, records, options)


def _chosen(topic: MetadataResponseTopic, asked_for: tuple[int, ...]) -> list[int]:
    there = leaders_of(topic)
    for partition in asked_for:
        if partition not in there:
            raise SettingError(
                f"--partition {partition}: {topic.name} has 0 to {max(there, default=-1)}"
            )
    return list(asked_for) or list(there)


def _print(topic: str, partition: int, records: list[Record], options: Mapping[str, Any]) -> None:
    if not records:
        return
    if options["form"] == JSON:
        lines = [json_line(topic, partition, one) for one in records]
    else:
        lines = [
            text_line(partition, one, keys=options["keys"], places=options["places"])
            for one in records
        ]
    click.echo("\n".join(lines))
