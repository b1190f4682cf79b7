"""Who is let in, who waits, who is closed, and how a listener ends."""

from __future__ import annotations

import asyncio

from tests.broker.caller import Caller, Door
from tests.broker.storehouse import Storehouse, tell

from quire.protocol.messages.api_versions import ApiVersionsRequest
from quire.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from quire.protocol.messages.metadata_records import ConfigRecord


async def is_served(caller: Caller, within_seconds: float = 0.5) -> bool:
    caller.send(ApiVersionsRequest(), 0)
    try:
        async with asyncio.timeout(within_seconds):
            await caller.answer()
    except (TimeoutError, ConnectionError):
        return False
    return True


def test_an_idle_connection_is_closed_and_a_busy_one_is_not() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        idle, busy = await door.call(), await door.call()
        for _ in range(20):
            assert await is_served(busy)
            await asyncio.sleep(1)
        assert await idle.is_closed()
        assert not busy.ended.is_set()
        assert house.metrics.listener("PLAINTEXT").expired == 1
        assert len(door.acceptor) == 1

    tell(story, connections_max_idle_ms="10000")


def test_who_waits_for_an_answer_is_not_idle() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        door = Door(house)
        caller = await door.call()
        partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
        topics = [FetchTopic(topic="orders", partitions=[partition])]
        caller.send(FetchRequest(max_wait_ms=30_000, min_bytes=1, topics=topics), 12)
        answer = await caller.answer()
        assert answer.error_code == 0

    tell(story, connections_max_idle_ms="5000")


def test_one_more_than_an_address_may_have_is_closed() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        first, second = await door.call("a"), await door.call("a")
        third = await door.call("a")
        assert await is_served(first)
        assert await is_served(second)
        assert await third.is_closed()
        others = [await door.call("b") for _ in range(3)]
        assert [await is_served(one) for one in others] == [True, True, True]
        first.stream.close()
        await asyncio.sleep(0.1)
        assert await is_served(await door.call("a"))
        house.broker.connections.check()

    tell(story, max_connections_per_ip="2", max_connections_per_ip_overrides="b:3")


def test_one_more_than_the_broker_takes_waits_until_another_has_gone() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        first, second, third = await door.call(), await door.call(), await door.call()
        assert await is_served(first)
        assert await is_served(second)
        assert not await is_served(third)
        assert not third.ended.is_set()
        second.stream.close()
        assert (await third.answer()).error_code == 0
        house.broker.connections.check()

    tell(story, max_connections="2")


def test_no_more_than_the_backlog_may_wait() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        callers = [await door.call() for _ in range(5)]
        assert [await one.is_closed(0.1) for one in callers] == [False, False, False, True, True]
        callers[0].stream.close()
        assert await is_served(callers[1])
        callers[1].stream.close()
        assert await is_served(callers[2])

    tell(story, max_connections="1", socket_listen_backlog_size="2")


def test_a_limit_of_one_listener_is_its_own_and_may_change_while_running() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        other = Door(house, listener="OTHER")
        assert await is_served(await door.call())
        second = await door.call()
        assert not await is_served(second, 0.1)
        assert await is_served(await other.call())
        assert await is_served(await other.call())
        await house.learn(
            ConfigRecord(
                resource_type=4, resource_name="1",
                name="listener.name.plaintext.max.connections", value="5",
            )
        )  # fmt: skip
        assert await is_served(await door.call())

    tell(story, listener_name_plaintext_max_connections="1")


def test_who_comes_too_fast_waits() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        callers = [await door.call() for _ in range(60)]
        served = [await is_served(one, 0.05) for one in callers]
        assert served[:20] == [True] * 20
        assert not all(served)
        await asyncio.sleep(20)
        assert [one.ended.is_set() for one in callers] == [False] * 60
        assert len(house.broker.connections.by_host) == 1
        assert house.broker.connections.total == 60

    tell(story, max_connection_creation_rate="3")


def test_draining_answers_what_was_begun_and_closes_everything() -> None:
    async def story(house: Storehouse) -> None:
        await house.topic("orders")
        door = Door(house)
        waiting, idle = await door.call(), await door.call()
        partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
        topics = [FetchTopic(topic="orders", partitions=[partition])]
        waiting.send(FetchRequest(max_wait_ms=60_000, min_bytes=1, topics=topics), 12)
        await asyncio.sleep(0.1)
        began_ms = house.clock.monotonic_ms()
        await door.acceptor.drain()
        assert house.clock.monotonic_ms() - began_ms < 1000
        assert (await waiting.answer()).error_code == 0
        assert await waiting.is_closed()
        assert await idle.is_closed()
        assert len(door.acceptor) == 0
        late = await door.call()
        assert await late.is_closed()

    tell(story)


def test_a_thousand_idle_connections_share_their_buffer() -> None:
    async def story(house: Storehouse) -> None:
        import gc
        import tracemalloc

        door = Door(house)
        await door.call()
        gc.collect()
        tracemalloc.start()
        connections = []

        class Nobody:
            def __init__(self) -> None:
                from quire.ports.network import Address

                self.peer = Address("h", 1)
                self.unsent_bytes = 0

            def close(self) -> None:
                pass

        streams = [Nobody() for _ in range(1000)]
        before = tracemalloc.get_traced_memory()[0]
        connections = [door.acceptor.accept(one) for one in streams]  # type: ignore[arg-type]
        each = (tracemalloc.get_traced_memory()[0] - before) / 1000
        tracemalloc.stop()
        assert len({id(one.buffer().obj) for one in connections}) == 1
        assert each < 3500
        for one in connections:
            one.closed(None)

    tell(story)


def test_figures_of_a_listener_follow_its_connections() -> None:
    async def story(house: Storehouse) -> None:
        door = Door(house)
        caller = await door.call()
        await is_served(caller)
        figures = house.metrics.listener("PLAINTEXT")
        assert (figures.open, figures.accepted, figures.closed) == (1, 1, 0)
        assert figures.bytes_in > 0
        caller.stream.close()
        await asyncio.sleep(0.1)
        assert (figures.open, figures.accepted, figures.closed) == (0, 1, 1)

    tell(story)
