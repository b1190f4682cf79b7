"""Where a node listens: its listeners opened, with true ports, and the addresses that others are told.

Invariants
  I1  Nobody is served before `serve`: who connects earlier waits, as in Apache Kafka.
  I2  Port 0 is any free port; the true one is advertised where none was given.
  I3  A listener that would have to be secure is refused before anything is opened.
Not here   connections and their limits (broker.connection), what settings may say (config.broker.endpoints).
See        KIP-103 (listeners), KIP-797 (two families on one port)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from quire.config.broker import BrokerSettings
from quire.config.broker.endpoints import (
    Endpoint,
    advertised,
    controller_listeners,
    listening,
    protocol_map,
)
from quire.config.values import ConfigError
from quire.ports.network import Accept, Address, Listening, Network, Owner, Stream
from quire.protocol.apis import BROKER, CONTROLLER
from quire.protocol.apis import Listener as Kind

PLAINTEXT = "PLAINTEXT"
SECURITY_PROTOCOLS = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}

AcceptFor = Callable[[str, Kind], Accept]
"""Told a listener's name and kind, gives who takes its streams."""


class Told(NamedTuple):
    """One address as others are told it."""

    name: str
    host: str
    port: int
    security_protocol: int


def check_protocols(settings: BrokerSettings) -> None:
    """Refuse what needs TLS or SASL (I3)."""
    protocols = protocol_map(settings)
    for one in listening(settings):
        protocol = protocols.get(one.listener, one.listener)
        if protocol != PLAINTEXT:
            name = "listener.security.protocol.map"
            raise ConfigError(
                f"{name} gives listener {one.listener} the protocol {protocol}, but only {PLAINTEXT} is"
                " served as yet",
                setting=name,
            )


def controller_endpoint(settings: BrokerSettings, host_name: str) -> tuple[str, str, int]:
    """The listener by which voters reach this node, as far as the settings tell: name, host, port."""
    names = controller_listeners(settings)
    places = (*advertised(settings), *listening(settings))
    place = next(one for name in names for one in places if one.listener == name)
    return place.listener, _reachable(place, host_name), max(place.port, 0)


class Listeners:
    """A node's open listeners."""

    def __init__(
        self, network: Network, settings: BrokerSettings, accept_for: AcceptFor, *, host_name: str
    ) -> None:
        """Nothing is opened yet. `host_name` is advertised for listeners on all interfaces."""
        self._network = network
        self._host_name = host_name
        self._settings = settings
        self._accept_for = accept_for
        self._controllers = controller_listeners(settings)
        self._open: dict[str, Listening] = {}
        self._early: list[Stream] = []
        self._serving = False

    @property
    def addresses(self) -> dict[str, Address]:
        """The true address of each listener by its name."""
        return {name: one.address for name, one in self._open.items()}

    def open(self) -> None:
        """Open them all; ConfigError names the one that cannot be had, and leaves none open."""
        try:
            for one in listening(self._settings):
                kind = CONTROLLER if one.listener in self._controllers else BROKER
                accept = self._gate(self._accept_for(one.listener, kind))
                self._open[one.listener] = self._network.listen(
                    Address(one.host, max(one.port, 0)), accept
                )
        except OSError as error:
            self.close()
            raise ConfigError(
                f"listeners has {one}, which cannot be opened: {error.strerror or error}",
                setting="listeners",
            ) from error

    def serve(self) -> None:
        """From now on requests are read (I1)."""
        self._serving = True
        early, self._early = self._early, []
        for stream in early:
            stream.resume_reading()

    def close(self) -> None:
        """Accept nobody any more; connections go on."""
        for one in self._open.values():
            one.close()
        self._open.clear()

    def told(self, kind: Kind) -> list[Told]:
        """What this node advertises of one kind of listener, with true ports (I2)."""
        protocols = protocol_map(self._settings)
        named = {one.listener: one for one in advertised(self._settings)}
        found = []
        for one in listening(self._settings):
            if (one.listener in self._controllers) is not (kind is CONTROLLER):
                continue
            place = named.get(one.listener, one)
            if kind is BROKER and one.listener not in named:
                continue
            port = place.port if place.port > 0 else self._open[one.listener].address.port
            protocol = SECURITY_PROTOCOLS[protocols[one.listener]]
            found.append(Told(one.listener, _reachable(place, self._host_name), port, protocol))
        return found

    def _gate(self, accept: Accept) -> Accept:
        """Who comes before `serve` is accepted, but not read from."""

        def accept_or_hold(stream: Stream) -> Owner:
            if not self._serving:
                self._early.append(stream)
                asyncio.get_running_loop().call_soon(self._hold, stream)
            return accept(stream)

        return accept_or_hold

    def _hold(self, stream: Stream) -> None:
        if not self._serving:
            stream.pause_reading()


def _reachable(place: Endpoint, host_name: str) -> str:
    everywhere = ("", "0.0.0.0", "::")  # noqa: S104 -- read, not bound
    return host_name if place.host in everywhere else place.host
