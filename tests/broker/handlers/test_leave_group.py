from __future__ import annotations

import pytest
from tests.broker.group_desk import Desk, at_desk

from quire.errors import ErrorCode
from quire.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity


def leaving(version: int, *members: str) -> LeaveGroupRequest:
    if version < 3:
        return LeaveGroupRequest(group_id="g", member_id=members[0])
    return LeaveGroupRequest(
        group_id="g", members=[MemberIdentity(member_id=one) for one in members]
    )


@pytest.mark.parametrize("version", range(6))
def test_a_member_leaves_once_in_every_version(version: int) -> None:
    async def story(desk: Desk) -> None:
        member_id = await desk.member()
        for expected in (ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID):
            answer = await desk.ask(leaving(version, member_id), version)
            if version < 3:
                assert answer.error_code == expected
            else:
                assert answer.error_code == ErrorCode.NONE
                assert [one.error_code for one in answer.members] == [expected]

    at_desk(story)


@pytest.mark.parametrize("version", [0, 5])
def test_nobody_is_known_in_a_group_that_is_not_there(version: int) -> None:
    async def story(desk: Desk) -> None:
        answer = await desk.ask(leaving(version, "m"), version)
        codes = [answer.error_code, *(one.error_code for one in answer.members)]
        unknown = ErrorCode.UNKNOWN_MEMBER_ID
        assert codes == ([unknown] if version == 0 else [ErrorCode.NONE, unknown])
        await desk.elsewhere()
        answer = await desk.ask(leaving(version, "m"), version)
        assert (answer.error_code, answer.members) == (ErrorCode.NOT_COORDINATOR, [])

    at_desk(story)
