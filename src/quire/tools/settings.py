"""Settings as commands get them: from a properties file, and from `--set name=value`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from quire.config.java_properties import parse_properties
from quire.tools.asking import SettingError, pairs

Command = TypeVar("Command", bound=Callable[..., Any])


def set_option(command: Command) -> Command:
    """`--set name=value`, as often as wanted."""
    return click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="NAME=VALUE",
        help="A setting that counts instead of the file's; may be given again.",
    )(command)


def properties_of(path: str, overrides: tuple[str, ...]) -> dict[str, str]:
    """What the file says, and over it what was typed."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        found = parse_properties(content)
    except ValueError as error:
        raise SettingError(f"{path}: {error}") from None
    return {**found, **pairs(overrides)}
