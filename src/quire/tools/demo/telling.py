"""How an act of the demo speaks."""

from __future__ import annotations

import sys
from typing import NoReturn

import click


def say(line: str) -> None:
    """One step of the demo."""
    click.secho("quire ", fg="cyan", nl=False)
    click.echo(line)


def fail(line: str) -> NoReturn:
    """A promise was broken."""
    click.secho(f"quire: {line}", fg="red", err=True)
    sys.exit(1)
