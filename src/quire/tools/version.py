"""`quire version`: what is installed here, and which kernels run."""

from __future__ import annotations

import importlib.metadata
import json
import platform

import click

from quire.records import implementation

LIBRARIES = ("crc32c", "cramjam", "lz4", "zstandard")


def facts() -> dict[str, str]:
    """Everything a bug report needs to say about this installation."""
    return {
        "quire": importlib.metadata.version("quire"),
        "kafka": "4.3",
        "kernels": implementation.NAME,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        **{name: importlib.metadata.version(name) for name in LIBRARIES},
    }


@click.command()
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def version(form: str) -> None:
    """Show version, Python, kernels and codecs."""
    found = facts()
    if form == "json":
        click.echo(json.dumps(found))
        return
    click.echo(f"quire {found.pop('quire')} (the bytes of Apache Kafka {found.pop('kafka')})")
    for name, value in found.items():
        click.echo(f"  {name:<10} {value}")
