"""A broker's life before a scripted controller: registered, let in, forgotten, told to go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.broker.storehouse import Storehouse, tell
from tests.node.link import ScriptedLink

from quire.broker.broker import BrokerState
from quire.errors import ErrorCode
from quire.node.lifecycle import Lifecycle, RegistrationError, controller_registration
from quire.node.listeners import Told
from quire.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from quire.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)

TOLD = Told("PLAINTEXT", "b1", 9092, 0)


class Rig:
    """A broker with its lifecycle and its controller."""

    def __init__(self, house: Storehouse, **more: Any) -> None:
        self.house = house
        self.broker = house.broker
        self.link = ScriptedLink()
        self.broker.controller = self.link
        self.offset = 5
        self.life = Lifecycle(
            cast("Any", SimpleNamespace(journal=house.journal)),
            house.broker,
            told=[TOLD],
            previous_epoch=more.pop("previous_epoch", -1),
            metadata_offset=lambda: self.offset,
        )
        self.epochs = 100

    def registers(self, *codes: ErrorCode) -> None:
        """Answer registrations with these codes, the last one for ever."""
        left = list(codes) or [ErrorCode.NONE]

        def answer(_request: Any) -> Any:
            code = left.pop(0) if len(left) > 1 else left[0]
            self.epochs += 1
            epoch = self.epochs if code is ErrorCode.NONE else -1
            return BrokerRegistrationResponse(
                throttle_time_ms=0, error_code=code, broker_epoch=epoch
            )

        self.link.scripts[BrokerRegistrationRequest] = answer

    def beats(self, answer: Callable[[BrokerHeartbeatRequest], dict[str, Any] | None]) -> None:
        """Answer heartbeats; None: nobody answers."""

        def script(request: BrokerHeartbeatRequest) -> Any:
            told = answer(request)
            if told is None:
                return None
            fields = {"error_code": 0, "should_shut_down": False, "is_caught_up": True, **told}
            return BrokerHeartbeatResponse(throttle_time_ms=0, **fields)

        self.link.scripts[BrokerHeartbeatRequest] = script

    @property
    def heartbeats(self) -> list[BrokerHeartbeatRequest]:
        return self.link.of(BrokerHeartbeatRequest)


def as_wanted(request: BrokerHeartbeatRequest) -> dict[str, Any]:
    """The controller does what the broker wants."""
    return {"is_fenced": request.want_fence, "should_shut_down": request.want_shut_down}


def test_it_registers_with_what_it_is_and_takes_the_epoch() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house, previous_epoch=3)
        rig.registers()
        await rig.life.register()
        (request,) = rig.link.asked
        assert (request.broker_id, request.cluster_id) == (1, "cluster")
        assert [one._asdict() if hasattr(one, "_asdict") else
                (one.name, one.host, one.port, one.security_protocol)
                for one in request.listeners] == [("PLAINTEXT", "b1", 9092, 0)]  # fmt: skip
        assert request.log_dirs == [
            one.meta.directory_id for one in house.log_dirs.log_dirs if one.meta is not None
        ]
        assert request.previous_broker_epoch == 3
        assert {"metadata.version", "kraft.version"} <= {one.name for one in request.features}
        assert house.broker.broker_epoch == 101

    tell(story)


def test_it_asks_again_while_the_last_session_runs_out_or_nobody_leads() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house)
        rig.registers(
            ErrorCode.DUPLICATE_BROKER_REGISTRATION, ErrorCode.NOT_CONTROLLER, ErrorCode.NONE
        )
        await rig.life.register()
        assert len(rig.link.asked) == 3
        assert house.broker.broker_epoch == 101 + 2

    tell(story)


def test_a_refusal_that_will_not_pass_is_an_error_at_once_that_says_why() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house)
        rig.registers(ErrorCode.INCONSISTENT_CLUSTER_ID)
        with pytest.raises(RegistrationError, match="belongs to cluster cluster"):
            await rig.life.register()
        rig.registers(ErrorCode.INVALID_REGISTRATION)
        with pytest.raises(RegistrationError, match="is another broker's"):
            await rig.life.register()
        assert len(rig.link.asked) == 2

    tell(story)


def test_who_is_not_answered_in_time_gives_up() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house)
        begun_ms = house.clock.monotonic_ms()
        with pytest.raises(RegistrationError, match="nobody answered"):
            await rig.life.register()
        assert 7000 <= house.clock.monotonic_ms() - begun_ms < 8000
        rig.registers(ErrorCode.DUPLICATE_BROKER_REGISTRATION)
        with pytest.raises(RegistrationError, match="DUPLICATE_BROKER_REGISTRATION"):
            await rig.life.register()

    tell(story, initial_broker_registration_timeout_ms="7000")


def test_it_stays_fenced_until_it_is_ready_and_is_let_in_then() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house)
        rig.beats(as_wanted)
        beating = asyncio.ensure_future(rig.life.heartbeats())
        await asyncio.sleep(10)
        assert all(one.want_fence and not one.want_shut_down for one in rig.heartbeats)
        assert 4 <= len(rig.heartbeats) <= 6, "one in two seconds"
        begun_ms = house.clock.monotonic_ms()
        await rig.life.ready()
        assert house.clock.monotonic_ms() - begun_ms < 100, "it does not wait for the interval"
        assert not rig.heartbeats[-1].want_fence
        beating.cancel()

    tell(story, broker_heartbeat_interval_ms="2000")


def test_while_it_waits_to_be_let_in_published_metadata_is_told_at_once() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house)
        rig.beats(lambda request: {"is_fenced": request.current_metadata_offset < 9})
        beating = asyncio.ensure_future(rig.life.heartbeats())
        readying = asyncio.ensure_future(rig.life.ready())
        await asyncio.sleep(5)
        assert not readying.done()
        rig.offset = 9
        rig.life.on_published()
        await asyncio.sleep(0.01)
        assert readying.done()
        count = len(rig.heartbeats)
        rig.life.on_published()
        await asyncio.sleep(0.01)
        assert len(rig.heartbeats) == count, "later it is nothing that anybody waits for"
        beating.cancel()

    tell(story)


def test_a_heartbeat_that_nobody_answers_is_followed_by_the_next() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house)
        rig.beats(lambda _request: None)
        beating = asyncio.ensure_future(rig.life.heartbeats())
        await asyncio.sleep(7)
        assert not beating.done()
        assert len(rig.heartbeats) == 4
        beating.cancel()

    tell(story, broker_heartbeat_interval_ms="2000")


def test_whom_the_controller_no_longer_knows_registers_anew() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house)
        rig.registers()
        await rig.life.register()
        rig.beats(
            lambda request: (
                {"is_fenced": False}
                if request.broker_epoch > 101
                else {"error_code": ErrorCode.STALE_BROKER_EPOCH, "is_fenced": True}
            )
        )
        beating = asyncio.ensure_future(rig.life.heartbeats())
        await asyncio.sleep(5)
        assert house.broker.broker_epoch == 102
        assert rig.heartbeats[-1].broker_epoch == 102
        beating.cancel()

    tell(story)


def test_it_leaves_when_the_controller_has_handed_over_what_it_led() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house)
        led = [3]

        def handing_over(request: BrokerHeartbeatRequest) -> dict[str, Any]:
            led[0] -= request.want_shut_down
            return {"is_fenced": False, "should_shut_down": led[0] <= 0}

        rig.beats(handing_over)
        beating = asyncio.ensure_future(rig.life.heartbeats())
        await rig.life.ready()
        begun_ms = house.clock.monotonic_ms()
        await rig.life.shut_down()
        assert house.clock.monotonic_ms() - begun_ms < 1000, "it asks more often than else"
        assert house.broker.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN
        await asyncio.wait_for(beating, 1)

    tell(story)


def test_should_shut_down_means_nothing_to_who_did_not_ask() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house)
        rig.beats(lambda _request: {"is_fenced": False, "should_shut_down": True})
        beating = asyncio.ensure_future(rig.life.heartbeats())
        await rig.life.ready()
        await asyncio.sleep(10)
        assert not beating.done()
        beating.cancel()

    tell(story)


def test_a_directory_that_failed_is_told_with_the_next_heartbeat() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house)
        rig.beats(as_wanted)
        ids = {one.path: one.meta.directory_id for one in house.log_dirs.log_dirs if one.meta}
        house.replicas.on_directory_lost = lambda _log_dir, _none_left: rig.life.hurry()
        beating = asyncio.ensure_future(rig.life.heartbeats())
        await asyncio.sleep(0.5)
        assert rig.heartbeats[-1].offline_log_dirs == []
        house.replicas.failed(house.log_dirs.log_dirs[1], OSError(5, "broken"))
        await asyncio.sleep(0.01)
        assert rig.heartbeats[-1].offline_log_dirs == [ids["/b"]]
        beating.cancel()

    tell(story, "/a", "/b", log_dirs="/a,/b")


def test_cordoned_directories_are_told_by_id() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house)
        rig.beats(as_wanted)
        ids = {one.path: one.meta.directory_id for one in house.log_dirs.log_dirs if one.meta}
        beating = asyncio.ensure_future(rig.life.heartbeats())
        for setting, told in (("/b", [ids["/b"]]), ("*", [ids["/a"], ids["/b"]]), ("", None)):
            layers = house.broker.layers
            cluster = {"cordoned.log.dirs": setting} if setting else {}
            house.broker.layers = layers.with_dynamic(cluster={}, broker=cluster)
            rig.life.hurry()
            await asyncio.sleep(0.01)
            assert rig.heartbeats[-1].cordoned_log_dirs == told
        beating.cancel()

    tell(story, "/a", "/b", log_dirs="/a,/b")


def test_a_controllers_registration_names_its_listeners_and_levels() -> None:
    request = controller_registration(4, b"i" * 16, [Told("CONTROLLER", "h", 9093, 0)])
    assert (request.controller_id, request.incarnation_id) == (4, b"i" * 16)
    assert [(one.name, one.host, one.port) for one in request.listeners] == [
        ("CONTROLLER", "h", 9093)
    ]
    assert "metadata.version" in {one.name for one in request.features}


def test_a_controller_is_told_of_until_somebody_answers() -> None:
    async def main(house: Storehouse) -> None:
        rig = Rig(house)
        request = controller_registration(4, b"i" * 16, [])
        left = [None, None, object()]
        rig.link.scripts[type(request)] = lambda _request: left.pop(0)
        await rig.life.register_controller(request)
        assert rig.link.asked == [request] * 3

    tell(main, "/a")
