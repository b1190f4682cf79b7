from __future__ import annotations

import pytest
from tests.broker.group_desk import Desk, at_desk

from quire.errors import ErrorCode
from quire.protocol.messages.delete_groups import DeleteGroupsRequest
from quire.protocol.messages.list_groups import ListGroupsRequest


@pytest.mark.parametrize("version", range(3))
def test_groups_without_members_are_deleted_and_each_is_answered(version: int) -> None:
    async def story(desk: Desk) -> None:
        await desk.member()
        for name in ("a", "b"):
            await desk.commit(1, group_id=name)
        request = DeleteGroupsRequest(groups_names=["g", "a", "nobody", "b", "a"])
        answer = await desk.ask(request, version)
        assert {one.group_id: one.error_code for one in answer.results} == {
            "g": ErrorCode.NON_EMPTY_GROUP,
            "a": ErrorCode.NONE,
            "b": ErrorCode.NONE,
            "nobody": ErrorCode.GROUP_ID_NOT_FOUND,
        }
        left = await desk.ask(ListGroupsRequest(), 5)
        assert [one.group_id for one in left.groups] == ["g"]

    at_desk(story)


def test_elsewhere_another_broker_deletes() -> None:
    async def story(desk: Desk) -> None:
        await desk.elsewhere()
        answer = await desk.ask(DeleteGroupsRequest(groups_names=["g", "h"]), 2)
        codes = [one.error_code for one in answer.results]
        assert codes == [ErrorCode.NOT_COORDINATOR] * 2

    at_desk(story)
