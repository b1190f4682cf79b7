"""What a broker tells the controller of its partitions, and what becomes of it when the answer is late or lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from tests.broker.storehouse import NODE, Storehouse, tell
from tests.node.link import ScriptedLink

from quire.errors import ErrorCode
from quire.node.reports import Reports
from quire.protocol.messages import metadata_records as records
from quire.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
)
from quire.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    AssignReplicasToDirsResponseDirectoryData,
    AssignReplicasToDirsResponsePartitionData,
    AssignReplicasToDirsResponseTopicData,
)

SECOND = records.RegisterBrokerRecord(
    broker_id=2, incarnation_id=bytes(16), broker_epoch=9, features=[], rack=None, fenced=False,
    end_points=[],
)  # fmt: skip


class Rig:
    """A broker that leads one partition, whose follower 2 is about to join the in-sync set."""

    def __init__(self, house: Storehouse) -> None:
        self.house = house
        self.link = ScriptedLink()
        house.broker.controller = self.link
        self.reports = Reports(house.broker)

    async def begin(self) -> bytes:
        await self.house.learn(SECOND)
        topic_id = await self.house.topic("orders", replicas=(NODE, 2), isr=(NODE,))
        self.fetch(0)
        return topic_id

    def fetch(self, offset: int) -> None:
        """What a fetch of the follower does."""
        replica = self.house.replica("orders")
        assert replica.leader is not None
        change = replica.leader.on_follower_fetch(
            2, fetch_offset=offset, log_start_offset=0, broker_epoch=9,
            now_ms=self.house.clock.monotonic_ms(),
        )  # fmt: skip
        if change is not None:
            self.house.replicas.isr_changes[replica] = change
        self.house.replicas.advance(replica, replica.leader.high_watermark)

    def alters(self, answer: Callable[[Any], tuple[ErrorCode, ErrorCode] | None]) -> None:
        """Answer changes of in-sync sets by (the whole request's code, each partition's code)."""

        def script(request: AlterPartitionRequest) -> Any:
            codes = answer(request)
            if codes is None:
                return None
            return AlterPartitionResponse(
                throttle_time_ms=0,
                error_code=codes[0],
                topics=[
                    AlterPartitionResponseTopicData(
                        topic_id=topic.topic_id,
                        partitions=[
                            AlterPartitionResponsePartitionData(
                                partition_index=one.partition_index,
                                error_code=codes[1],
                                leader_id=NODE,
                                leader_epoch=one.leader_epoch,
                                isr=[each.broker_id for each in one.new_isr_with_epochs],
                                partition_epoch=one.partition_epoch + 1,
                            )
                            for one in topic.partitions
                        ],
                    )
                    for topic in request.topics
                    if codes[0] is ErrorCode.NONE
                ],
            )

        self.link.scripts[AlterPartitionRequest] = script


GRANTED = (ErrorCode.NONE, ErrorCode.NONE)


def test_a_change_of_an_in_sync_set_is_asked_for_once_and_taken() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house)
        topic_id = await rig.begin()
        rig.alters(lambda _request: GRANTED)
        await rig.reports.look()
        await rig.reports.look()
        (request,) = rig.link.of(AlterPartitionRequest)
        assert (request.broker_id, request.broker_epoch) == (NODE, 7)
        (topic,) = request.topics
        (one,) = topic.partitions
        assert (topic.topic_id, one.partition_index, one.partition_epoch) == (topic_id, 0, 0)
        assert [(each.broker_id, each.broker_epoch) for each in one.new_isr_with_epochs] == [
            (NODE, 7), (2, 9),
        ]  # fmt: skip
        leader = house.replica("orders").leader
        assert leader is not None
        assert (leader.isr, leader.partition_epoch, leader.pending) == ((NODE, 2), 1, None)
        assert (house.metrics.isr_expands, house.metrics.isr_shrinks) == (1, 0)

    tell(story)


def test_a_shrink_lets_the_high_watermark_go_on() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house)
        rig.alters(lambda _request: GRANTED)
        await house.topic("orders", replicas=(NODE, 2))
        house.append("orders", 3)
        await asyncio.sleep(31)
        house.replicas.on_time()
        assert house.replica("orders").log.high_watermark == 0
        await rig.reports.look()
        assert house.replica("orders").log.high_watermark == 3
        assert (house.metrics.isr_expands, house.metrics.isr_shrinks) == (0, 1)

    tell(story)


def test_without_an_answer_the_follower_may_ask_again_by_its_next_fetch() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house)
        await rig.begin()
        await rig.reports.look()
        leader = house.replica("orders").leader
        assert leader is not None
        assert (leader.isr, leader.pending) == ((NODE,), None)
        assert house.metrics.failed_isr_updates == 1
        rig.fetch(0)
        rig.alters(lambda _request: GRANTED)
        await rig.reports.look()
        assert leader.isr == (NODE, 2)

    tell(story)


def test_a_refusal_that_says_our_picture_is_old_waits_for_the_news() -> None:
    async def story(house: Storehouse) -> None:
        for codes, is_pending in (
            ((ErrorCode.NONE, ErrorCode.INELIGIBLE_REPLICA), False),
            ((ErrorCode.NONE, ErrorCode.INVALID_UPDATE_VERSION), True),
        ):
            rig = Rig(house)
            if house.replicas.get("orders", 0) is None:
                await rig.begin()
            rig.fetch(0)
            rig.alters(lambda _request, codes=codes: codes)
            await rig.reports.look()
            leader = house.replica("orders").leader
            assert leader is not None
            assert (leader.pending is not None) is is_pending

    tell(story)


def test_a_refusal_of_the_whole_request_is_one_of_every_change() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house)
        await rig.begin()
        rig.alters(lambda _request: (ErrorCode.NOT_CONTROLLER, ErrorCode.NONE))
        await rig.reports.look()
        leader = house.replica("orders").leader
        assert leader is not None
        assert leader.pending is None
        assert house.metrics.failed_isr_updates == 1

    tell(story)


def test_an_answer_for_an_earlier_epoch_leaves_the_leader_of_now_alone() -> None:
    async def story(house: Storehouse) -> None:
        for granted in (True, False):
            rig = Rig(house)
            if house.replicas.get("orders", 0) is None:
                topic_id = await rig.begin()
            else:
                rig.fetch(0)
            rig.link.seconds = 5.0
            rig.alters(lambda _request, granted=granted: GRANTED if granted else None)
            looking = asyncio.ensure_future(rig.reports.look())
            await asyncio.sleep(1)
            for leader_id in (2, NODE):
                await house.learn(
                    records.PartitionChangeRecord(
                        partition_id=0, topic_id=topic_id, leader=leader_id
                    )
                )
            rig.fetch(0)
            leader = house.replica("orders").leader
            assert leader is not None
            assert leader.pending == (NODE, 2)
            await looking
            assert leader.pending == (NODE, 2), "its own change is still to be asked for"
            assert len(house.replicas.isr_changes) == 1
            house.replicas.isr_changes.clear()
            leader.on_alter_refused(ErrorCode.NOT_CONTROLLER, house.clock.monotonic_ms())

    tell(story)


def test_where_replicas_are_is_told_until_the_controller_has_heard_it() -> None:
    async def story(house: Storehouse) -> None:
        rig = Rig(house)
        topic_id = await house.topic("orders", partitions=3, directory=bytes(15) + b"\x01")
        assert len(house.replicas.unreported) == 3
        await rig.reports.look()
        assert len(house.replicas.unreported) == 3, "nobody heard it"

        def answer(request: AssignReplicasToDirsRequest) -> AssignReplicasToDirsResponse:
            return AssignReplicasToDirsResponse(
                throttle_time_ms=0,
                error_code=0,
                directories=[
                    AssignReplicasToDirsResponseDirectoryData(
                        id=directory.id,
                        topics=[
                            AssignReplicasToDirsResponseTopicData(
                                topic_id=topic.topic_id,
                                partitions=[
                                    AssignReplicasToDirsResponsePartitionData(
                                        partition_index=one.partition_index,
                                        error_code=56 if one.partition_index == 2 else 0,
                                    )
                                    for one in topic.partitions
                                ],
                            )
                            for topic in directory.topics
                        ],
                    )
                    for directory in request.directories
                ],
            )

        rig.link.scripts[AssignReplicasToDirsRequest] = answer
        await rig.reports.look()
        assert list(house.replicas.unreported) == [(topic_id, 2)], "what was refused is told again"
        request = rig.link.of(AssignReplicasToDirsRequest)[-1]
        meta = house.log_dirs.log_dirs[0].meta
        assert meta is not None
        assert [one.id for one in request.directories] == [meta.directory_id]
        assert len(request.directories[0].topics[0].partitions) == 3

    tell(story)
