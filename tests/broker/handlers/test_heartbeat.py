from __future__ import annotations

import asyncio

import pytest
from tests.broker.group_desk import Desk, at_desk

from quire.errors import ErrorCode
from quire.protocol.messages.heartbeat import HeartbeatRequest


def beat(member_id: str, generation: int = 1) -> HeartbeatRequest:
    return HeartbeatRequest(group_id="g", generation_id=generation, member_id=member_id)


@pytest.mark.parametrize("version", range(5))
def test_a_member_is_told_that_it_belongs_in_every_version(version: int) -> None:
    async def story(desk: Desk) -> None:
        member_id = await desk.member()
        assert (await desk.ask(beat(member_id), version)).error_code == ErrorCode.NONE
        answer = await desk.ask(beat(member_id, 2), version)
        assert answer.error_code == ErrorCode.ILLEGAL_GENERATION

    at_desk(story)


def test_silence_ends_a_session_by_the_clock() -> None:
    async def story(desk: Desk) -> None:
        member_id = await desk.member()
        for _ in range(3):
            await asyncio.sleep(9)
            assert (await desk.ask(beat(member_id), 4)).error_code == ErrorCode.NONE
        await asyncio.sleep(11)
        assert (await desk.ask(beat(member_id), 4)).error_code == ErrorCode.UNKNOWN_MEMBER_ID

    at_desk(story)


def test_elsewhere_another_broker_coordinates() -> None:
    async def story(desk: Desk) -> None:
        await desk.elsewhere()
        assert (await desk.ask(beat("m"), 4)).error_code == ErrorCode.NOT_COORDINATOR

    at_desk(story)


def test_while_the_log_is_read_a_member_stays_where_it_is() -> None:
    async def story(desk: Desk) -> None:
        member_id = await desk.member()
        desk.take_over()
        assert desk.house.broker.groups.is_loading
        assert (await desk.ask(beat(member_id), 4)).error_code == ErrorCode.NONE
        await asyncio.sleep(1)
        assert (await desk.ask(beat(member_id, 3), 4)).error_code == ErrorCode.ILLEGAL_GENERATION

    at_desk(story)
