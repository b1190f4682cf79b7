"""A controller of few words: what it answers is scripted, what it is asked is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from quire.broker.call import Client
from quire.broker.controller_link import ControllerUnavailableError

Script = Callable[[Any], Any]


class ScriptedLink:
    """A broker.controller_link.ControllerLink; for a request without a script nobody answers."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.scripts: dict[type, Script] = {}
        self.seconds = 0.0
        """How long it takes."""

    async def ask(self, request: Any, *, version: int, client: Client | None = None) -> Any:
        assert version >= 0
        assert client is None, "these are the broker's own questions"
        self.asked.append(request)
        await asyncio.sleep(self.seconds)
        script = self.scripts.get(type(request))
        answer = None if script is None else script(request)
        if answer is None:
            raise ControllerUnavailableError("away")
        return answer

    def of(self, kind: type) -> list[Any]:
        """What was asked of one kind."""
        return [one for one in self.asked if type(one) is kind]
