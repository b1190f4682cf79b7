"""`quire doctor`."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import click

from quire.ports.network import Address
from quire.runtime.network import RealNetwork
from quire.tools.asking import Addresses, bootstrap_option
from quire.tools.doctor.cluster import examine_cluster
from quire.tools.doctor.findings import Finding, Level, is_well
from quire.tools.doctor.group import examine_group
from quire.tools.doctor.machine import examine_machine
from quire.tools.local import LocalCluster
from quire.tools.places import Place, PlaceType
from quire.tools.settings import properties_of
from quire.tools.showing import JSON, format_option, show_rows

PAUSE_SECONDS = 6.0
"""Longer than consumers wait between two commits of their own accord (auto.commit.interval.ms)."""
COLOURS = {Level.FINE: "green", Level.WARNING: "yellow", Level.WRONG: "red"}


@click.command("doctor")
@bootstrap_option
@click.option(
    "-c", "--config", "path", type=click.Path(exists=True, dir_okay=False),
    help="A node's properties file: its settings, directories and ports, here.",
)  # fmt: skip
@click.option("-d", "--dir", "directory", help="A cluster of `quire up`: both, of all its nodes.")
@click.option("-g", "--group", help="A consumer group: why it does not get on.")
@click.option("--topic", "places", type=PlaceType(), multiple=True, help="With --group: only here.")
@click.option(
    "--seconds", type=click.FloatRange(0), default=PAUSE_SECONDS, show_default=True,
    help="With --group: between the first look and the second.",
)  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Only what is not fine.")
@format_option
def doctor(
    bootstrap: Addresses,
    path: str | None,
    directory: str | None,
    quiet: bool,  # noqa: FBT001
    form: str,
    **options: Any,
) -> None:
    """Say what is wrong, and what to do.

    Asks a cluster as a client would; with --config it looks at a node of this machine instead, running or not, with
    --group at a consumer group that is stuck. The exit code is 1 when something is wrong.
    """
    if options["group"] is not None:
        found = asyncio.run(_group(bootstrap, **options))
    elif directory is not None:
        found = asyncio.run(_local(directory))
    elif path is not None:
        found = asyncio.run(_machine(properties_of(path, ()), is_running=False))
    else:
        found = asyncio.run(examine_cluster(RealNetwork(), bootstrap))
    _show([one for one in found if not (quiet and one.level is Level.FINE)], form)
    if not is_well(found):
        sys.exit(1)


async def _group(
    bootstrap: Addresses, *, group: str, places: tuple[Place, ...], seconds: float
) -> list[Finding]:
    return await examine_group(RealNetwork(), bootstrap, group, places, pause_seconds=seconds)


async def _machine(static: dict[str, str], *, is_running: bool) -> list[Finding]:
    return examine_machine(static, RealNetwork(), is_running=is_running)


async def _local(directory: str) -> list[Finding]:
    cluster = LocalCluster.find(directory)
    found: list[Finding] = []
    running: list[Address] = []
    for node in cluster.nodes:
        is_running = node.state == "running"
        found += await _machine(node.settings(), is_running=is_running)
        if is_running:
            running.append(node.address)
        else:
            last = "it was stopped" if node.state == "stopped" else "it died"
            remedy = f"`quire node start --dir {directory} --node {node.node}`"
            found.append(Finding(Level.WRONG, f"node {node.node}", f"does not run: {last}", remedy))
    if running:
        found += await examine_cluster(RealNetwork(), running)
    return list(dict.fromkeys(found))


def _show(found: list[Finding], form: str) -> None:
    if form == JSON:
        show_rows([_row(one) for one in found], form)
        return
    for one in found:
        mark = click.style(f"{one.level.value:<8}", fg=COLOURS[one.level])
        click.echo(f"{mark} {one.subject}: {one.text}")
        if one.remedy:
            click.echo(f"         {one.remedy}")
    if not found:
        click.echo("nothing to tell")


def _row(one: Finding) -> dict[str, Any]:
    return {**one._asdict(), "level": one.level.value}
