"""How a broker asks another broker: for what coordinators and leaders must tell each other.

Not here   connections and addresses (node), who is asked (markers, verification).
"""

from __future__ import annotations

from typing import Any, Protocol


class PeerUnavailableError(Exception):
    """That broker is not known, cannot be reached, or did not answer."""


class Peers(Protocol):
    """Asks other brokers."""

    async def ask(self, node_id: int, request: Any) -> Any:
        """The response of a broker, at the highest version that both speak; PeerUnavailableError without one."""
        ...


class Nobody:
    """There are no others, or no way to them."""

    async def ask(self, node_id: int, request: Any) -> Any:  # noqa: ARG002
        """See `Peers`."""
        raise PeerUnavailableError(f"there is no way to broker {node_id}")
