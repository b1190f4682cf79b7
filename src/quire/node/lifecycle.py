"""The broker's side of its life: it registers, tells that it lives, is let in, and asks to leave.

    register -> heartbeats (fenced) -> ready: unfenced, RUNNING -> shut_down: leaderships handed over -> gone

The broker asks whoever is the active controller, by the link that its handlers use.

Invariants
  I1  One incarnation has one epoch at a time: when the controller no longer knows it, it registers anew.
  I2  The broker is let in only after `ready` was called, when it has read its own registration.
  I3  A heartbeat that nobody answers is not the broker's failure: the next one comes after the interval.
Not here   what the controller makes of it (controller.brokers), when the broker is ready (boot).
See        KIP-631, KIP-858 (directories), KIP-966 (the previous epoch), KIP-1066 (cordoned directories)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from quire.broker.broker import Broker, BrokerState
from quire.broker.controller_link import ControllerUnavailableError
from quire.errors import ErrorCode, QuireError
from quire.metadata.features import FEATURES
from quire.node.listeners import Told
from quire.node.world import World
from quire.protocol.messages import broker_heartbeat as beating
from quire.protocol.messages import broker_registration as registrations
from quire.protocol.messages import controller_registration as controllers
from quire.storage.log_dir import LogDir
from quire.types import uuid_to_text

REGISTRATION_VERSION: Final = 4
HEARTBEAT_VERSION: Final = 2
CONTROLLER_VERSION: Final = 0
PAUSE_SECONDS: Final = 0.1

_PASSING: Final = frozenset(
    {
        ErrorCode.DUPLICATE_BROKER_REGISTRATION,  # the last process's session runs out
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.UNKNOWN_SERVER_ERROR,
    }
)


class RegistrationError(QuireError):
    """The controller does not take this broker, and will not."""


class Lifecycle:
    """See the module."""

    def __init__(
        self,
        world: World,
        broker: Broker,
        *,
        told: Sequence[Told],
        previous_epoch: int,
        metadata_offset: Callable[[], int],
    ) -> None:
        """`told`: where clients find it. `metadata_offset`: how far the published metadata reaches."""
        self._world = world
        self._broker = broker
        self._told = told
        self._previous_epoch = previous_epoch
        self._metadata_offset = metadata_offset
        self._wants_fence = True
        self._wants_shut_down = False
        self._now = asyncio.Event()
        self._unfenced = asyncio.Event()
        self._may_stop = asyncio.Event()

    async def register(self) -> None:
        """Take part; RegistrationError when that cannot be, or not within the time for it."""
        settings = self._broker.layers.settings
        limit = settings.initial_broker_registration_timeout_ms / 1000
        code: ErrorCode | None = None
        try:
            async with asyncio.timeout(limit):
                while (code := await self._try_to_register()) is not ErrorCode.NONE:
                    if code is not None and code not in _PASSING:
                        raise RegistrationError(self._why_refused(code))
                    await asyncio.sleep(PAUSE_SECONDS)
        except TimeoutError:
            last = "nobody answered" if code is None else f"the last answer was {code.name}"
            raise RegistrationError(
                f"the broker could not register within {limit:g} s"
                f" (initial.broker.registration.timeout.ms): {last}"
            ) from None

    async def register_controller(self, request: controllers.ControllerRegistrationRequest) -> None:
        """Tell the active controller of ours, again and again until one answers: a full disk may have room later."""
        while True:
            try:
                await self._broker.controller.ask(request, version=CONTROLLER_VERSION)
            except ControllerUnavailableError:
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                return

    async def heartbeats(self) -> None:
        """Tell the controller that the broker lives, until it may stop."""
        while not self._may_stop.is_set():
            self._now.clear()
            await self._beat()
            interval = self._broker.layers.settings.broker_heartbeat_interval_ms / 1000
            if self._is_urgent:
                interval = min(interval, PAUSE_SECONDS)
            try:
                async with asyncio.timeout(interval):
                    await self._now.wait()
            except TimeoutError:
                continue

    async def ready(self) -> None:
        """Everything is loaded: ask to be let in, and return when that has happened."""
        self._wants_fence = False
        self._now.set()
        await self._unfenced.wait()

    async def shut_down(self) -> None:
        """Ask to leave; return when all leaderships are handed over."""
        self._broker.state = BrokerState.PENDING_CONTROLLED_SHUTDOWN
        self._wants_shut_down = True
        self._now.set()
        await self._may_stop.wait()

    def hurry(self) -> None:
        """There is something to tell (a directory has failed): do not wait."""
        self._now.set()

    def on_published(self) -> None:
        """Metadata was read: that may be what the controller waits for."""
        if self._is_urgent:
            self._now.set()

    @property
    def _is_urgent(self) -> bool:
        """Whether an answer is waited for that only other events can bring."""
        return self._wants_shut_down or not (self._wants_fence or self._unfenced.is_set())

    async def _try_to_register(self) -> ErrorCode | None:
        """The controller's answer; None when there is none."""
        broker, log_dirs = self._broker, self._broker.log_dirs
        request = registrations.BrokerRegistrationRequest(
            broker_id=broker.node_id,
            cluster_id=broker.cluster_id,
            incarnation_id=broker.incarnation_id,
            listeners=[registrations.Listener(**one._asdict()) for one in self._told],
            features=[
                registrations.Feature(
                    name=one.name,
                    min_supported_version=one.lowest,
                    max_supported_version=one.highest,
                )
                for one in FEATURES
            ],
            rack=broker.layers.settings.broker_rack,
            log_dirs=_ids(log_dirs.online),
            previous_broker_epoch=self._previous_epoch,
        )
        try:
            answer = await broker.controller.ask(request, version=REGISTRATION_VERSION)
        except ControllerUnavailableError:
            return None
        code = ErrorCode.of(answer.error_code)
        if code is ErrorCode.NONE:
            broker.broker_epoch = answer.broker_epoch
            self._say("registered", epoch=answer.broker_epoch)
        return code

    async def _beat(self) -> None:
        broker = self._broker
        request = beating.BrokerHeartbeatRequest(
            broker_id=broker.node_id,
            broker_epoch=broker.broker_epoch,
            current_metadata_offset=self._metadata_offset(),
            want_fence=self._wants_fence,
            want_shut_down=self._wants_shut_down,
            offline_log_dirs=_ids(
                one for one in broker.log_dirs.log_dirs if one.failure is not None
            ),
            cordoned_log_dirs=self._cordoned(),
        )
        try:
            answer = await broker.controller.ask(request, version=HEARTBEAT_VERSION)
        except ControllerUnavailableError:
            return  # I3
        code = ErrorCode.of(answer.error_code)
        if code is ErrorCode.STALE_BROKER_EPOCH:
            self._say("is not known to the controller any more", epoch=broker.broker_epoch)
            await self._try_to_register()  # I1
        elif code is ErrorCode.NONE:
            self._take(answer)

    def _take(self, answer: beating.BrokerHeartbeatResponse) -> None:
        if answer.should_shut_down and self._wants_shut_down:
            self._may_stop.set()
        elif not answer.is_fenced and not self._unfenced.is_set():
            self._unfenced.set()
            self._say("is let in")
        elif answer.is_fenced and self._unfenced.is_set():
            self._unfenced.clear()
            self._say("is fenced")

    def _cordoned(self) -> list[bytes] | None:
        """None while nothing is, and nothing was."""
        settings = self._broker.layers.settings
        known = self._broker.image.brokers.get(self._broker.node_id)
        if not settings.cordoned_log_dirs and (known is None or not known.cordoned_directories):
            return None
        return _ids(one for one in self._broker.log_dirs.online if settings.is_cordoned(one.path))

    def _why_refused(self, code: ErrorCode) -> str:
        reason = code.text
        if code is ErrorCode.INCONSISTENT_CLUSTER_ID:
            reason = f"it belongs to cluster {self._broker.cluster_id}, the controller does not"
        elif code is ErrorCode.INVALID_REGISTRATION:
            ids = map(uuid_to_text, _ids(self._broker.log_dirs.online))
            reason = f"a directory id of log.dirs is another broker's: {', '.join(ids)}"
        return f"the controller refused broker {self._broker.node_id} ({code.name}): {reason}"

    def _say(self, text: str, **facts: object) -> None:
        self._world.journal.say("node", f"broker {self._broker.node_id}", text, **facts)


def _ids(log_dirs: Iterable[LogDir]) -> list[bytes]:
    metas = [one.meta for one in log_dirs if one.meta is not None]
    return [one.directory_id for one in metas if one.directory_id is not None]


def controller_registration(
    node_id: int, incarnation_id: bytes, told: Sequence[Told]
) -> controllers.ControllerRegistrationRequest:
    """What a controller's process tells the active one of itself (KIP-919)."""
    return controllers.ControllerRegistrationRequest(
        controller_id=node_id,
        incarnation_id=incarnation_id,
        zk_migration_ready=False,
        listeners=[controllers.Listener(**one._asdict()) for one in told],
        features=[
            controllers.Feature(
                name=one.name,
                min_supported_version=one.lowest,
                max_supported_version=one.highest,
            )
            for one in FEATURES
        ],
    )
