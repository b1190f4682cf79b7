"""The controller at work: commands decided one by one, their records in the log, their answers held until it is safe.

The machine lives for one term of office. It begins when everything that was there before is committed, and ends with
the office; whoever waits for an answer then is told that nobody answers.

Invariants
  I1  A command is decided on the image that all records before it made: it is replayed before the next one.
  I2  An answer, of a reader too, is given when everything it may depend on is committed.
  I3  Without an office nothing is decided: ControllerUnavailableError.
  I4  What a full disk refused was not decided: nothing of it is replayed, whoever asked may ask again, and a timer
      rings again at its next time.
Not here   what is decided (controller), who may ask (broker.dispatch), the log and its commits (quorum).
See        docs/decisions/0009-controller-is-a-replayed-machine.md
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from quire.broker.call import Client
from quire.broker.controller_link import ControllerUnavailableError
from quire.controller.decision import ConfigRules, Decision, Settings, Timer
from quire.controller.machine import Controller
from quire.metadata.image import Broker, Image
from quire.metadata.records import Message
from quire.node.quorum import Quorum
from quire.node.world import World


class ControllerHost:
    """See the module. It is the broker's `ControllerLink` in a node that has both roles."""

    def __init__(
        self,
        world: World,
        quorum: Quorum,
        *,
        settings: Callable[[], Settings],
        rules: ConfigRules,
        bootstrap: Sequence[Message] | None,
        is_gone: Callable[[Broker], bool] = lambda _broker: False,
    ) -> None:
        """`bootstrap` is what formatting left for the first controller; None means the defaults."""
        self._world = world
        self._quorum = quorum
        self._settings = settings
        self._rules = rules
        self._bootstrap = bootstrap
        self._is_gone = is_gone
        self._machine: Controller | None = None
        self._begins_behind: int | None = None
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._office = asyncio.Event()

    @property
    def machine(self) -> Controller | None:
        """While we hold the office."""
        return self._machine

    async def in_office(self) -> None:
        """Return once we hold the office."""
        await self._office.wait()

    async def ask(self, request: Any, *, version: int, client: Client | None = None) -> Any:  # noqa: ARG002
        """The answer to a command (see broker.controller_link)."""
        machine = self._machine
        if machine is None:
            raise ControllerUnavailableError("this node is not the active controller")
        decision = machine.command(
            request,
            now_ms=self._world.clock.monotonic_ms(),
            next_offset=self._quorum.end_offset,
        )
        try:
            self._take(decision)
        except OSError as error:
            raise ControllerUnavailableError(f"the metadata log takes nothing: {error}") from error
        await self._safe(self._quorum.end_offset)
        return decision.response

    def on_office(self, start_offset: int) -> None:
        """We lead; the controller begins once what lies below `start_offset` is committed."""
        self._begins_behind = start_offset

    def leave_office(self) -> None:
        """We lead no more (I3)."""
        self._machine = None
        self._begins_behind = None
        self._office.clear()
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        for _, waiter in self._waiting:
            if not waiter.done():
                waiter.set_exception(ControllerUnavailableError("the controller left its office"))
        self._waiting.clear()

    def on_committed(self, high_watermark: int, image: Image, *, in_transaction: bool) -> None:
        """Everything below is safe, and is what `image` shows: whoever waited for that goes on."""
        if self._begins_behind is not None and high_watermark > self._begins_behind:
            self._begins_behind = None
            self._begin(image, in_transaction=in_transaction)
        while self._waiting and self._waiting[0][0] <= high_watermark:
            _, waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)

    def _begin(self, image: Image, *, in_transaction: bool) -> None:
        machine = Controller(
            self._settings(),
            self._rules,
            self._world.entropy,
            image,
            in_transaction=in_transaction,
        )
        self._machine = machine
        self._take(
            machine.activate(
                now_ms=self._world.clock.monotonic_ms(),
                next_offset=self._quorum.end_offset,
                bootstrap=self._bootstrap,
                is_gone=self._is_gone,
            )
        )
        self._office.set()

    def _take(self, decision: Decision) -> None:
        """Append what was decided, replay it at once (I1), and set its timers; OSError: it was not appended (I4)."""
        machine = self._machine
        assert machine is not None
        for timer in decision.timers:
            self._set(timer)
        if decision.records:
            batch = self._quorum.append(decision.records)
            machine.replay(
                batch.messages, last_offset=batch.last_offset, quorum_epoch=self._quorum.epoch
            )
            machine.check()

    async def _safe(self, end_offset: int) -> None:
        """Wait until everything below is committed (I2)."""
        if self._quorum.high_watermark >= end_offset:
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append((end_offset, waiter))
        await waiter

    def _set(self, timer: Timer) -> None:
        earlier = self._timers.get(timer.key)
        if earlier is not None:
            earlier.cancel()
        after_ms = max(0, timer.due_ms - self._world.clock.monotonic_ms())
        loop = asyncio.get_running_loop()
        self._timers[timer.key] = loop.call_later(after_ms / 1000, self._on_timer, timer.key)

    def _on_timer(self, key: str) -> None:
        self._timers.pop(key, None)
        if self._machine is None:
            return
        decision = self._machine.on_timer(
            key,
            now_ms=self._world.clock.monotonic_ms(),
            next_offset=self._quorum.end_offset,
        )
        try:
            self._take(decision)
        except (
            OSError
        ) as error:  # the timer is set again, and the quorum knows whether the node can go on
            self._world.journal.say("controller", key, "could not append", reason=str(error))
