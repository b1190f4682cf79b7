"""Which node of which local cluster is meant: the options that every verb of `quire node` has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def node_options(command: Command) -> Command:
    """`--dir` and `--node`."""
    with_node = click.option(
        "-n", "--node", "number", type=int, help="Its node.id; not needed where there is one."
    )(command)
    return click.option(
        "-d", "--dir", "directory", required=True, help="What `quire up` was told."
    )(with_node)
