from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from tests.broker.group_desk import Desk, at_desk

from quire.errors import ErrorCode
from quire.metadata.features import GROUP_VERSION
from quire.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest


def switch_on(desk: Desk, level: int = 1) -> None:
    """The cluster speaks the new protocol."""
    image = desk.house.broker.image
    features = {**image.features, GROUP_VERSION: level}
    desk.house.broker.image = replace(image, features=features)


def joining(**how: Any) -> ConsumerGroupHeartbeatRequest:
    return ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id="m",
        member_epoch=0,
        rebalance_timeout_ms=10_000,
        subscribed_topic_names=["orders"],
        topic_partitions=[],
        **how,
    )


@pytest.mark.parametrize("version", range(2))
def test_a_member_joins_and_is_given_partitions_in_every_version(version: int) -> None:
    async def story(desk: Desk) -> None:
        switch_on(desk)
        answer = await desk.ask(joining(), version)
        assert (answer.error_code, answer.member_epoch) == (ErrorCode.NONE, 2)
        (given,) = answer.assignment.topic_partitions
        assert (given.topic_id, given.partitions) == (desk.topic_id, [0, 1, 2, 3])
        leaving = ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=-1)
        assert (await desk.ask(leaving, version)).member_epoch == -1

    at_desk(story)


def test_a_member_is_remembered_by_who_takes_over() -> None:
    async def story(desk: Desk) -> None:
        switch_on(desk)
        await desk.ask(joining(), 1)
        desk.take_over()
        beat = ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=2)
        answer = await desk.ask(beat, 1)
        assert answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        await asyncio.sleep(1)
        assert (await desk.ask(beat, 1)).error_code == ErrorCode.NONE

    at_desk(story)


def test_a_cluster_or_a_broker_that_does_not_speak_it_says_so() -> None:
    async def old_cluster(desk: Desk) -> None:
        switch_on(desk, 0)
        assert (await desk.ask(joining(), 1)).error_code == ErrorCode.UNSUPPORTED_VERSION

    async def classic_broker(desk: Desk) -> None:
        switch_on(desk)
        assert (await desk.ask(joining(), 1)).error_code == ErrorCode.UNSUPPORTED_VERSION

    at_desk(old_cluster)
    at_desk(classic_broker, **{"group.coordinator.rebalance.protocols": "classic"})


def test_elsewhere_another_broker_coordinates() -> None:
    async def story(desk: Desk) -> None:
        switch_on(desk)
        await desk.elsewhere()
        assert (await desk.ask(joining(), 1)).error_code == ErrorCode.NOT_COORDINATOR

    at_desk(story)
