"""Settings of one listener: `listener.name.<listener>.<setting>`, and how they are looked up."""

from __future__ import annotations

import re
from typing import Any

from quire.config.broker import BrokerSettings
from quire.config.setting import Setting

PREFIX = "listener.name."
PER_MECHANISM = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
"""What stands behind a listener's name and a mechanism's."""

_LISTENER = r"listener\.name\.[^.]*\.(.*)"


def listener_prefix(listener: str) -> str:
    """What a setting's name begins with when it is meant for one listener."""
    return f"{PREFIX}{listener.lower()}."


def base_name(name: str) -> str:
    """The name without the listener, and without the mechanism where one stands there."""
    match = re.fullmatch(_LISTENER, name)
    if match is None:
        return name
    for base in PER_MECHANISM:
        if match[1].endswith(base):
            return base
    return match[1]


def declaration_of(name: str) -> Setting[Any] | None:
    """The declaration of a broker's setting, with or without a listener's name before it."""
    return BrokerSettings.declared.get(base_name(name))
