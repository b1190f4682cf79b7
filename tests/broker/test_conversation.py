"""Requests and answers of one connection over a simulated network; some handlers are the tests' own."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest
from tests.broker.caller import Caller, Door
from tests.broker.storehouse import Storehouse, tell

from quire.broker.call import CLOSE, HOLD, LATER, NOTHING, Call
from quire.broker.conversation import UNANSWERED_MAX
from quire.broker.routes import Route
from quire.errors import ErrorCode
from quire.metadata.image import QuotaEntity
from quire.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from quire.protocol.messages.create_topics import CreateTopicsRequest
from quire.protocol.messages.metadata import MetadataRequest
from quire.protocol.messages.vote import VoteRequest


class Handler:
    """Stands in for ApiVersions: says what the test wants, and keeps the calls."""

    def __init__(self, door: Door, says: Callable[[Call], Any] | None = None) -> None:
        self.calls: list[Call] = []
        self.says = says or (lambda call: answer_of(call))
        self._door = door
        find = door.acceptor.routes.find

        def found(spoken: Any) -> Route | None:
            route = find(spoken)
            if route is not None and spoken.api.key == 18:
                route.handle = self.handle
            return route

        door.acceptor.routes.find = found  # type: ignore[method-assign]

    def handle(self, _broker: Any, call: Call) -> Any:
        self.calls.append(call)
        return self.says(call)


def numbered(number: int) -> ApiVersionsRequest:
    return ApiVersionsRequest(client_software_name="n", client_software_version=str(number))


def answer_of(call: Call) -> ApiVersionsResponse:
    """The request's number comes back."""
    return ApiVersionsResponse(
        error_code=0, api_keys=[], throttle_time_ms=0,
        finalized_features_epoch=int(call.request.client_software_version),
    )  # fmt: skip


async def numbers(caller: Caller, count: int) -> list[int]:
    return [(await caller.answer()).finalized_features_epoch for _ in range(count)]


def test_answers_come_in_the_order_of_their_requests_whoever_is_ready_first() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        handler = Handler(
            door,
            lambda call: (
                LATER if call.request.client_software_version in "024" else answer_of(call)
            ),
        )
        caller = await door.call()
        for number in range(6):
            caller.send(numbered(number), 3)
        await asyncio.sleep(0.1)
        waiting = [call for call in handler.calls if call.request.client_software_version in "024"]
        assert len(handler.calls) == 6
        waiting[2].answer(answer_of(waiting[2]))
        waiting[0].answer(answer_of(waiting[0]))
        assert await numbers(caller, 2) == [0, 1]
        assert caller.answers.empty()
        waiting[1].answer(answer_of(waiting[1]))
        assert await numbers(caller, 4) == [2, 3, 4, 5]

    tell(story)


def test_a_held_connection_begins_nothing_until_it_is_answered() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        handler = Handler(door, lambda call: HOLD)
        caller = await door.call()
        for number in range(200):
            caller.send(numbered(number), 3)
        await asyncio.sleep(0.1)
        assert len(handler.calls) == 1
        handler.says = answer_of
        handler.calls[0].answer(answer_of(handler.calls[0]))
        assert await numbers(caller, 200) == list(range(200))

    tell(story)


def test_a_handler_may_answer_before_it_returns() -> None:
    async def story(house: Storehouse) -> None:
        def at_once(call: Call) -> Any:
            call.answer(answer_of(call))
            return LATER

        door = Door(house)
        Handler(door, at_once)
        caller = await door.call()
        caller.send(numbered(1), 3)
        caller.send(numbered(2), 3)
        assert await numbers(caller, 2) == [1, 2]

    tell(story)


def test_too_many_unanswered_requests_stop_the_connection_for_a_while() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        handler = Handler(door, lambda call: LATER)
        caller = await door.call()
        for number in range(UNANSWERED_MAX + 50):
            caller.send(numbered(number), 3)
        await asyncio.sleep(1)
        assert len(handler.calls) == UNANSWERED_MAX
        for call in handler.calls[:50]:
            call.answer(answer_of(call))
        await asyncio.sleep(1)
        assert len(handler.calls) == UNANSWERED_MAX + 50
        for call in handler.calls[50:]:
            call.answer(answer_of(call))
        assert await numbers(caller, UNANSWERED_MAX + 50) == list(range(UNANSWERED_MAX + 50))

    tell(story)


def test_a_request_without_an_answer_leaves_none_and_the_next_is_answered() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        Handler(
            door,
            lambda call: (
                NOTHING if call.request.client_software_version == "1" else answer_of(call)
            ),
        )
        caller = await door.call()
        caller.send(numbered(1), 3, expects_response=False)
        caller.send(numbered(2), 3)
        assert await numbers(caller, 1) == [2]

    tell(story)


def test_close_ends_the_connection_after_the_answers_before_it() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        Handler(
            door,
            lambda call: CLOSE if call.request.client_software_version == "2" else answer_of(call),
        )
        caller = await door.call()
        for number in (1, 2, 3):
            caller.send(numbered(number), 3)
        assert await numbers(caller, 1) == [1]
        assert await caller.is_closed()
        assert caller.answers.empty()

    tell(story)


def test_what_cannot_be_read_ends_the_connection_after_all_before_it_is_answered() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        handler = Handler(door, lambda call: LATER)
        caller = await door.call()
        caller.send(numbered(1), 3)
        caller.stream.send([b"\0\0\0\4\x7f\xff\0\0"])
        caller.send(numbered(2), 3)
        assert not await caller.is_closed()
        assert len(handler.calls) == 1
        handler.calls[0].answer(answer_of(handler.calls[0]))
        assert await numbers(caller, 1) == [1]
        assert await caller.is_closed()
        assert house.metrics.unreadable_requests == 1

    tell(story)


@pytest.mark.parametrize(
    ("request_", "version"),
    [
        (VoteRequest(cluster_id=None, voter_id=1, topics=[]), 0),
        (CreateTopicsRequest(topics=[]), 9),
    ],
)
def test_what_is_not_served_here_is_closed_without_an_answer(request_: Any, version: int) -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        caller = await door.call()
        if version == 9:
            caller.stream.send([bytes.fromhex("0000000a 0013 0009 00000001 ffff")])
        else:
            caller.send(request_, version)
        assert await caller.is_closed()
        assert caller.answers.empty()
        assert len(door.acceptor) == 0

    tell(story)


def test_an_api_without_a_row_is_closed_too() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        caller = await door.call()
        caller.stream.send(
            [bytes.fromhex("0000000a 0058 0000 00000001 ffff")]
        )  # StreamsGroupHeartbeat
        assert await caller.is_closed()

    tell(story)


def test_api_versions_from_the_future_is_answered_in_version_0() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        caller = await door.call()
        caller.is_raw = True
        caller.stream.send([bytes.fromhex("0000000b 0012 0063 00000007 ffff 00")])
        await asyncio.sleep(0.1)
        assert caller.raw == bytes.fromhex("00000010 00000007 0023 00000001 0012 0000 0004")
        caller.is_raw = False
        assert (await caller.ask(ApiVersionsRequest(), 0)).error_code == 0

    tell(story)


def test_a_failing_handler_is_answered_where_the_response_can_say_it_and_told() -> None:
    async def story(house: Storehouse) -> None:
        def fail(call: Call) -> Any:
            raise RuntimeError("oh")

        door = Door(house)
        Handler(door, fail)
        caller = await door.call()
        caller.send(numbered(1), 3)
        assert await caller.is_closed()
        assert any("RuntimeError: oh" in line for line in house.journal.lines)
        assert house.metrics.errors == {(18, -1): 1}
        other = await door.call()
        house.broker.controller = None  # type: ignore[assignment]
        response = await other.ask(CreateTopicsRequest(topics=[]), 7)
        assert response.topics == []

    tell(story)


def test_a_coroutine_holds_its_connection_and_no_other() -> None:
    async def story(house: Storehouse) -> None:
        began = asyncio.Event()
        go_on = asyncio.Event()

        async def slowly(_broker: Any, call: Call) -> Any:
            began.set()
            await go_on.wait()
            return answer_of(call)

        door = Door(house)
        find = door.acceptor.routes.find

        def found(spoken: Any) -> Route | None:
            route = find(spoken)
            if route is not None and spoken.version == 3:
                return Route(slowly, route.figures)
            return route

        door.acceptor.routes.find = found  # type: ignore[method-assign]
        caller, other = await door.call(), await door.call()
        caller.send(numbered(1), 3)
        caller.send(ApiVersionsRequest(), 0)
        await began.wait()
        assert (await other.ask(ApiVersionsRequest(), 0)).error_code == 0
        assert caller.answers.empty()
        go_on.set()
        assert await numbers(caller, 2) == [1, -1]

    tell(story)


def test_who_is_over_a_quota_is_answered_at_once_and_muted_for_as_long_as_said() -> None:
    async def story(house: Storehouse) -> None:
        house.broker.quotas.active = True
        door = Door(house)
        spent = {"ms": 500}

        def throttled(*_: Any) -> int:
            return spent["ms"]

        house.broker.quotas.requested = throttled  # type: ignore[method-assign]
        caller = await door.call()
        began_ms = house.clock.monotonic_ms()
        response = await caller.ask(ApiVersionsRequest(), 1)
        assert response.throttle_time_ms == 500
        assert house.clock.monotonic_ms() - began_ms < 50
        spent["ms"] = 0
        await caller.ask(ApiVersionsRequest(), 1)
        assert 450 <= house.clock.monotonic_ms() - began_ms < 600
        assert QuotaEntity("user", None)

    tell(story)


def test_what_waits_for_a_connection_that_ends_is_expired() -> None:
    async def story(house: Storehouse) -> None:
        from quire.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic

        await house.topic("orders")
        door = Door(house)
        caller = await door.call()
        partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
        caller.send(
            FetchRequest(
                max_wait_ms=2**31 - 1, min_bytes=1,
                topics=[FetchTopic(topic="orders", partitions=[partition])],
            ), 12,
        )  # fmt: skip
        await asyncio.sleep(0.1)
        assert len(house.broker.waiting.fetch) == 1
        caller.stream.abort()
        await asyncio.sleep(0.1)
        assert len(house.broker.waiting.fetch) == 0
        assert len(door.acceptor) == 0

    tell(story)


def test_a_request_in_pieces_is_answered_when_it_is_whole() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        caller = await door.call()
        _, parts = caller.framing.encode_request(numbered(5), 3)
        for byte in b"".join(parts):
            assert caller.answers.empty()
            caller.stream.send([bytes([byte])])
            await asyncio.sleep(0.01)
        assert (await caller.answer()).error_code == 0

    tell(story)


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_end_their_connection_and_harm_nobody(seed: int) -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        good, bad = await door.call(), await door.call()
        rng = random.Random(seed)
        bad.is_raw = True
        for _ in range(30):
            bad.stream.send([rng.randbytes(rng.randrange(1, 400))])
        assert (await good.ask(ApiVersionsRequest(), 0)).error_code == 0
        await bad.is_closed()
        bad.stream.close()
        assert (await good.ask(MetadataRequest(topics=[]), 4)).brokers

    tell(story)


@pytest.mark.parametrize("seed", range(30))
def test_a_damaged_request_is_answered_or_ends_its_connection(seed: int) -> None:
    async def story(house: Storehouse) -> None:
        from tests.broker.storehouse import batch_of

        from quire.protocol.messages.produce import (
            PartitionProduceData,
            ProduceRequest,
            TopicProduceData,
        )

        await house.topic("orders")
        door = Door(house)
        rng = random.Random(seed)
        good, bad = await door.call(), await door.call()
        data = PartitionProduceData(index=0, records=batch_of(3, timestamp=house.clock.wall_ms()))
        request = ProduceRequest(
            acks=1, timeout_ms=100,
            topic_data=[TopicProduceData(name="orders", partition_data=[data])],
        )  # fmt: skip
        _, parts = bad.framing.encode_request(request, 9)
        frame = bytearray(b"".join(parts))
        for _ in range(rng.randrange(1, 4)):
            frame[rng.randrange(4, len(frame))] = rng.randrange(256)
        bad.is_raw = True
        bad.stream.send([bytes(frame)])
        await asyncio.sleep(0.2)
        assert bad.raw or await bad.is_closed() or frame[12:14] != b"\0\4"
        assert (await good.ask(ApiVersionsRequest(), 0)).error_code == 0
        assert not [
            line
            for line in house.journal.lines
            if "Error" in line
            and "ProtocolError" not in line
            and "UnsupportedVersion" not in line
            and "FrameSize" not in line
        ]
        assert house.replica("orders").log.log_end_offset in (0, 3)

    tell(story)


def test_figures_of_a_request_are_kept_by_version() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        caller = await door.call()
        for _ in range(3):
            await caller.ask(ApiVersionsRequest(), 0)
        await caller.ask(
            ApiVersionsRequest(client_software_name="a b", client_software_version="1"), 3
        )
        assert [(key, version, one.count) for key, version, one in house.metrics.requests()] == [
            (18, 0, 3), (18, 3, 1),
        ]  # fmt: skip
        assert house.metrics.request(18, 0).total.count == 3
        assert ErrorCode.NONE == 0

    tell(story)
