from __future__ import annotations

import asyncio

import pytest
from tests.broker.group_desk import Desk, at_desk

from quire.errors import ErrorCode


@pytest.mark.parametrize("version", range(10))
def test_somebody_joins_in_every_version(version: int) -> None:
    async def story(desk: Desk) -> None:
        answer = await desk.join(version)
        if version >= 4:
            assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
            answer = await desk.join(version, member_id=answer.member_id)
        assert (answer.error_code, answer.generation_id, answer.protocol_name) == (0, 1, "range")
        assert answer.leader == answer.member_id
        assert answer.member_id.startswith("test-")
        assert len(answer.members) == 1

    at_desk(story)


def test_who_waits_when_the_broker_stops_is_told_to_look_elsewhere() -> None:
    async def story(desk: Desk) -> None:
        waiting = asyncio.create_task(desk.join())
        await asyncio.sleep(0.1)
        assert not waiting.done()
        await desk.elsewhere()
        answer = await waiting
        assert (answer.error_code, answer.protocol_name) == (ErrorCode.NOT_COORDINATOR, "")
        later = await desk.join(9)
        assert (later.error_code, later.protocol_name) == (ErrorCode.NOT_COORDINATOR, None)

    at_desk(story)


def test_without_its_topic_there_is_no_coordinator() -> None:
    async def story(desk: Desk) -> None:
        assert (await desk.join()).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE

    at_desk(story, partitions=0)


def test_the_delay_of_the_first_rebalance_is_the_broker_s() -> None:
    async def story(desk: Desk) -> None:
        clock = desk.house.clock
        before = clock.monotonic_ms()
        await desk.join()
        assert 1000 <= clock.monotonic_ms() - before < 1100

    at_desk(story, group_initial_rebalance_delay_ms="1000")
