from __future__ import annotations

import pytest
from tests.broker.group_desk import Desk, at_desk
from tests.broker.handlers.test_consumer_group_heartbeat import joining, switch_on

from quire.broker.handlers.describe_groups import GROUP_OPERATIONS
from quire.broker.permitted import UNSAID
from quire.errors import ErrorCode
from quire.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest


def about(*groups: str, operations: bool = False) -> ConsumerGroupDescribeRequest:
    return ConsumerGroupDescribeRequest(
        group_ids=list(groups), include_authorized_operations=operations
    )


@pytest.mark.parametrize("version", range(2))
def test_groups_are_described_in_the_order_asked_in_every_version(version: int) -> None:
    async def story(desk: Desk) -> None:
        switch_on(desk)
        await desk.ask(joining(), 1)
        nobody, group = (await desk.ask(about("nobody", "g"), version)).groups
        assert (group.group_id, group.group_state, group.group_epoch) == ("g", "Stable", 2)
        (member,) = group.members
        assert member.assignment.topic_partitions[0].topic_name == "orders"
        assert member.member_type == (1 if version else -1)
        assert nobody.error_code == ErrorCode.GROUP_ID_NOT_FOUND
        assert group.authorized_operations == UNSAID

    at_desk(story)


def test_permitted_operations_are_told_to_who_asks() -> None:
    async def story(desk: Desk) -> None:
        switch_on(desk)
        await desk.ask(joining(), 1)
        nobody, group = (await desk.ask(about("nobody", "g", operations=True), 1)).groups
        assert group.authorized_operations == GROUP_OPERATIONS
        assert nobody.authorized_operations == UNSAID

    at_desk(story)


def test_elsewhere_another_broker_describes() -> None:
    async def story(desk: Desk) -> None:
        switch_on(desk)
        await desk.elsewhere()
        (group,) = (await desk.ask(about("g"), 1)).groups
        assert group.error_code == ErrorCode.NOT_COORDINATOR

    at_desk(story)


def test_a_cluster_that_does_not_speak_it_says_so_of_each_group() -> None:
    async def story(desk: Desk) -> None:
        switch_on(desk, 0)
        groups = (await desk.ask(about("g", "h"), 1)).groups
        assert [(one.group_id, one.error_code) for one in groups] == [
            ("g", ErrorCode.UNSUPPORTED_VERSION),
            ("h", ErrorCode.UNSUPPORTED_VERSION),
        ]

    at_desk(story)
