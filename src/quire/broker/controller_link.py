"""How a broker asks the active controller, wherever that is.

In a combined node it is in the same process; else it is at the end of a connection, and a client's request travels in
an Envelope. Handlers do not know which.

Not here   the controller itself (controller), its host (node).
"""

from __future__ import annotations

from typing import Any, Protocol

from quire.broker.call import Client


class ControllerUnavailableError(Exception):
    """There is no active controller, or it did not answer in time."""


class ControllerLink(Protocol):
    """Asks the active controller."""

    async def ask(self, request: Any, *, version: int, client: Client | None = None) -> Any:
        """The controller's response to a request message, once everything it depends on is committed.

        `client` is who asked us; None when the broker asks for itself. ControllerUnavailableError when nobody answers.
        """
        ...
