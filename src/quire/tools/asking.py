"""How a command reaches a cluster: where it is, and a loop to ask it on.

    @click.command()
    @bootstrap_option
    def list_topics(bootstrap: Addresses) -> None:
        asked(bootstrap, lambda cluster: ...)

Not here   what is asked (tools/<noun>/<verb>.py), the protocol (clients).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import click

from quire.clients.cluster import Cluster
from quire.errors import QuireError
from quire.ports.network import Address
from quire.runtime.network import RealNetwork

T = TypeVar("T")
Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_PORT = 9092
VARIABLE = "QUIRE_BOOTSTRAP"


class SettingError(QuireError):
    """What was typed cannot be; the message names it."""


class AddressesType(click.ParamType[tuple[Address, ...]]):
    """`host:port,host:port`; a port left out is 9092."""

    name = "HOST:PORT"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Address, ...]:
        if isinstance(value, tuple):
            return value
        found = []
        for item in filter(None, (part.strip() for part in str(value).split(","))):
            host, port = item, ""
            if item.startswith("[") and "]" in item:
                host, _, port = item[1:].partition("]")
                port = port.removeprefix(":")
            elif item.count(":") == 1:
                host, _, port = item.partition(":")
            if port and not (port.isdecimal() and 0 < int(port) < 65536):
                self.fail(f"{item!r} has no port between 1 and 65535", param, ctx)
            found.append(Address(host or "127.0.0.1", int(port or DEFAULT_PORT)))
        if not found:
            self.fail("an address such as localhost:9092 is needed", param, ctx)
        return tuple(found)


Addresses = tuple[Address, ...]


def bootstrap_option(command: Command) -> Command:
    """`-b HOST:PORT`, for every command that asks a cluster."""
    return click.option(
        "-b",
        "--bootstrap",
        type=AddressesType(),
        envvar=VARIABLE,
        default=f"127.0.0.1:{DEFAULT_PORT}",
        show_default=True,
        show_envvar=True,
        help="Where the cluster is; several addresses by commas.",
    )(command)


def asked(bootstrap: Addresses, question: Callable[[Cluster], Awaitable[T]]) -> T:
    """What `question` gives, asked of the cluster at `bootstrap`."""

    async def ask() -> T:
        async with Cluster(RealNetwork(), bootstrap, client_id="quire-cli") as cluster:
            return await question(cluster)

    return asyncio.run(ask())


def pairs(settings: tuple[str, ...]) -> dict[str, str]:
    """`key=value` as they are typed; SettingError names the one that is not."""
    found = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise SettingError(f"{setting!r} is not name=value")
        found[name] = value
    return found
