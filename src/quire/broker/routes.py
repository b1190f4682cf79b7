"""From a row of the dispatch table to the function that answers: looked up and imported once.

Invariants
  I1  A handler's module is imported with the first request for it, not before.
  I2  What has no row has no route: its connection closes without an answer (dispatch I2).
Not here   the table (dispatch), what versions are served (protocol.connection).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from quire.broker.dispatch import BROKER_TABLE, CONTROLLER_TABLE
from quire.broker.metrics import Metrics, RequestFigures
from quire.protocol.apis import CONTROLLER, ApiKey, Listener
from quire.protocol.connection import Spoken


class Route:
    """Who answers one version of one API."""

    __slots__ = ("figures", "handle")

    def __init__(self, handle: Callable[[Any, Any], Any], figures: RequestFigures) -> None:
        self.handle = handle
        self.figures = figures


class Routes:
    """The routes of one kind of listener."""

    def __init__(self, kind: Listener, metrics: Metrics) -> None:
        self._table = CONTROLLER_TABLE if kind == CONTROLLER else BROKER_TABLE
        self._metrics = metrics
        self._found: dict[Spoken, Route] = {}
        self.get = self._found.get
        """The route of what was asked before; None: `find` it."""

    def find(self, spoken: Spoken) -> Route | None:
        """The route; None when nobody answers this API here."""
        row = self._table.get(ApiKey(spoken.api.key))
        if row is None:
            return None
        handle = import_module(f"quire.broker.handlers.{row.module}").handle
        figures = self._metrics.request(spoken.api.key, spoken.version)
        route = self._found[spoken] = Route(handle, figures)
        return route
