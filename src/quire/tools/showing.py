"""How a command shows what it found: a table for people, JSON for programs.

Every listing takes `--format text|json`; colours appear only on a terminal (click sees to that).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

TEXT = "text"
JSON = "json"


def format_option(command: Command) -> Command:
    """`--format`, for every listing."""
    return click.option(
        "--format", "form", type=click.Choice([TEXT, JSON]), default=TEXT, show_default=True
    )(command)


def show_rows(rows: Sequence[Mapping[str, Any]], form: str, *, empty: str = "nothing") -> None:
    """One line for each row under the names of its fields; `empty` is said when there are none."""
    if form == JSON:
        click.echo(json.dumps(list(rows), indent=2))
        return
    if not rows:
        click.echo(empty)
        return
    names = list(rows[0])
    cells = [[_text(row.get(name)) for name in names] for row in rows]
    widths = [max(len(line[i]) for line in (names, *cells)) for i in range(len(names))]
    click.secho(_line(names, widths), bold=True)
    for line in cells:
        click.echo(_line(line, widths))


def show_one(facts: Mapping[str, Any], form: str) -> None:
    """One thing: a line for each fact."""
    if form == JSON:
        click.echo(json.dumps(facts, indent=2))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        click.echo(f"{name:<{width}}  {_text(value)}")


def moment(ms: int) -> str | None:
    """A time of day in UTC, such as 2026-01-31T12:00:00.000Z; None for one that is not known (below 0)."""
    if ms < 0:
        return None
    text = datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value)) or "-"
    if isinstance(value, dict):
        return ",".join(f"{name}={_text(item)}" for name, item in value.items()) or "-"
    return str(value)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()
