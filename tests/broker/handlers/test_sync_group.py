from __future__ import annotations

import pytest
from tests.broker.group_desk import Desk, at_desk

from quire.errors import ErrorCode
from quire.protocol.messages.sync_group import SyncGroupRequest


def request(member_id: str, **more: str) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id="g", generation_id=1, member_id=member_id, assignments=[], **more
    )


@pytest.mark.parametrize("version", range(6))
def test_a_member_asks_for_its_share_in_every_version(version: int) -> None:
    async def story(desk: Desk) -> None:
        member_id = await desk.member()
        named = {"protocol_type": "consumer", "protocol_name": "range"} if version >= 5 else {}
        answer = await desk.ask(request(member_id, **named), version)
        assert (answer.error_code, answer.assignment) == (ErrorCode.NONE, b"all")
        assert answer.protocol_name == ("range" if version >= 5 else None)

    at_desk(story)


def test_from_version_5_on_a_member_must_say_which_protocol_it_believes_in() -> None:
    async def story(desk: Desk) -> None:
        member_id = await desk.member()
        answer = await desk.ask(request(member_id), 5)
        assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        assert (await desk.ask(request("other"), 4)).error_code == ErrorCode.UNKNOWN_MEMBER_ID

    at_desk(story)


def test_elsewhere_another_broker_coordinates() -> None:
    async def story(desk: Desk) -> None:
        await desk.elsewhere()
        assert (await desk.ask(request("m"), 4)).error_code == ErrorCode.NOT_COORDINATOR

    at_desk(story)
