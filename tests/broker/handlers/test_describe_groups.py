from __future__ import annotations

import pytest
from tests.broker.group_desk import Desk, at_desk

from quire.broker.handlers.describe_groups import GROUP_OPERATIONS
from quire.broker.permitted import UNSAID
from quire.errors import ErrorCode
from quire.protocol.messages.describe_groups import DescribeGroupsRequest


@pytest.mark.parametrize("version", range(7))
def test_groups_are_described_in_the_order_asked_in_every_version(version: int) -> None:
    async def story(desk: Desk) -> None:
        member_id = await desk.member()
        await desk.commit(1, group_id="plain")
        request = DescribeGroupsRequest(groups=["nobody", "g", "plain"])
        nobody, group, plain = (await desk.ask(request, version)).groups
        assert (group.group_id, group.group_state, group.protocol_data) == ("g", "Stable", "range")
        assert [one.member_id for one in group.members] == [member_id]
        assert (plain.group_state, plain.protocol_type) == ("Empty", "")
        missing = ErrorCode.GROUP_ID_NOT_FOUND if version >= 6 else ErrorCode.NONE
        assert (nobody.error_code, nobody.group_state) == (missing, "Dead")
        assert group.authorized_operations == UNSAID

    at_desk(story)


def test_permitted_operations_are_told_to_who_asks() -> None:
    async def story(desk: Desk) -> None:
        await desk.member()
        request = DescribeGroupsRequest(groups=["g"], include_authorized_operations=True)
        (group,) = (await desk.ask(request, 6)).groups
        assert group.authorized_operations == GROUP_OPERATIONS

    at_desk(story)


def test_elsewhere_another_broker_describes() -> None:
    async def story(desk: Desk) -> None:
        await desk.elsewhere()
        (group,) = (await desk.ask(DescribeGroupsRequest(groups=["g"]), 6)).groups
        assert (group.error_code, group.group_id) == (ErrorCode.NOT_COORDINATOR, "g")

    at_desk(story)
