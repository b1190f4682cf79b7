"""`quire format`: make the directories of a node ready for its first start."""

from __future__ import annotations

import click

from quire.node.format import Formatting, format_directories
from quire.runtime.clock import RealClock
from quire.runtime.disk import RealDisk
from quire.runtime.entropy import RealEntropy
from quire.runtime.world import host_name
from quire.storage.meta_properties import new_uuid
from quire.tools.asking import SettingError, pairs
from quire.tools.settings import properties_of, set_option
from quire.tools.showing import format_option, show_rows
from quire.types import uuid_to_text


@click.command("format")
@click.option(
    "-c",
    "--config",
    "path",
    required=True,
    type=click.Path(exists=True, dir_okay=False),
    help="The node's properties file.",
)
@set_option
@click.option(
    "-t", "--cluster-id", help="22 characters; the same on all nodes. Drawn when left out."
)
@click.option("-s", "--standalone", is_flag=True, help="This node alone votes first.")
@click.option("-I", "--initial-controllers", help="id@host:port:directory of each first voter.")
@click.option("-N", "--no-initial-controllers", is_flag=True, help="Who votes is said later.")
@click.option("-r", "--release-version", help="The release whose levels the cluster begins with.")
@click.option("-f", "--feature", "features", multiple=True, metavar="NAME=LEVEL")
@click.option("-g", "--ignore-formatted", is_flag=True, help="Pass over what is formatted already.")
@format_option
def format_node(
    path: str,
    overrides: tuple[str, ...],
    cluster_id: str | None,
    standalone: bool,  # noqa: FBT001
    initial_controllers: str | None,
    no_initial_controllers: bool,  # noqa: FBT001
    release_version: str | None,
    features: tuple[str, ...],
    ignore_formatted: bool,  # noqa: FBT001
    form: str,
) -> None:
    """Make a node's directories ready.

    That is done once, before the node's first start. Whose directories they are is kept in meta.properties, and the
    levels of the cluster's features beside it.
    """
    entropy = RealEntropy()
    wanted = Formatting(
        cluster_id=cluster_id or uuid_to_text(new_uuid(entropy)),
        standalone=standalone,
        initial_controllers=tuple(filter(None, (initial_controllers or "").split(","))),
        no_initial_controllers=no_initial_controllers,
        release_version=release_version,
        features=_levels(features),
        ignore_formatted=ignore_formatted,
    )
    formatted = format_directories(
        RealDisk(),
        properties_of(path, overrides),
        wanted,
        entropy=entropy,
        now_ms=RealClock().wall_ms(),
        host_name=host_name(),
    )
    rows = [
        {"directory": one.path, "cluster": wanted.cluster_id, "formatted": one.is_new}
        for one in formatted
    ]
    show_rows(rows, form)


def _levels(features: tuple[str, ...]) -> dict[str, int]:
    levels = {}
    for name, level in pairs(features).items():
        if not level.isdecimal():
            raise SettingError(f"the level of {name} is {level!r}, not a number")
        levels[name] = int(level)
    return levels
