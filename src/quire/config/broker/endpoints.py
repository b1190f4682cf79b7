"""Addresses in settings: `name://host:port`, and which protocol a listener speaks.

Invariants
  I1  Listener names are upper case, whatever case they were written in.
  I2  An IPv6 host stands in square brackets in texts, and without them in an Endpoint.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from quire.config.broker import BrokerSettings
from quire.config.values import ConfigError

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_ENDPOINT = r"([^:]+)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]{1,9})"


class Endpoint(NamedTuple):
    """Where one listener is; an empty host means all interfaces."""

    listener: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.listener}://{host}:{self.port}"


def endpoints(setting: str, items: tuple[str, ...]) -> tuple[Endpoint, ...]:
    """The items of a list of endpoints; ConfigError for the first that is none."""
    found = []
    for item in items:
        match = re.fullmatch(_ENDPOINT, item)
        if match is None:
            raise ConfigError(
                f"{setting} has {item!r}, but must be name://host:port", setting=setting
            )
        found.append(Endpoint(match[1].upper(), match[2], int(match[3])))
    return tuple(found)


def listening(settings: BrokerSettings) -> tuple[Endpoint, ...]:
    """Where this node listens."""
    return endpoints("listeners", settings.listeners)


def advertised(settings: BrokerSettings) -> tuple[Endpoint, ...]:
    """What clients are told: what is advertised, or else what listens, without controllers."""
    controllers = controller_listeners(settings)
    if settings.advertised_listeners is None:
        return tuple(one for one in listening(settings) if one.listener not in controllers)
    return endpoints("advertised.listeners", settings.advertised_listeners)


def controller_listeners(settings: BrokerSettings) -> tuple[str, ...]:
    return tuple(name.upper() for name in settings.controller_listener_names)


def protocol_map(settings: BrokerSettings) -> dict[str, str]:
    """Listener -> security protocol.

    Where no map is given and no listener is secure by its name, controllers speak PLAINTEXT.
    """
    name = "listener.security.protocol.map"
    protocols: dict[str, str] = {}
    for item in settings.listener_security_protocol_map.split(","):
        if not item.strip():
            continue
        listener, colon, protocol = (part.strip() for part in item.rpartition(":"))
        if not colon or not listener or protocol.upper() not in PROTOCOLS:
            raise ConfigError(
                f"{name} has {item.strip()!r}, but must be listener:protocol with one of "
                + ", ".join(PROTOCOLS),
                setting=name,
            )
        protocols[listener.upper()] = protocol.upper()
    if name not in settings.given:
        secure = any(one.listener in PROTOCOLS[1:] for one in listening(settings))
        for listener in () if secure else controller_listeners(settings):
            protocols.setdefault(listener, "PLAINTEXT")
    return protocols


def inter_broker_listener(settings: BrokerSettings) -> str:
    """The listener that brokers use among themselves."""
    named = settings.inter_broker_listener_name
    return (settings.security_inter_broker_protocol if named is None else named).upper()
