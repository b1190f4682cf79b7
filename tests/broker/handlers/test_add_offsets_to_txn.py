from __future__ import annotations

from typing import Any

from tests.broker.storehouse import Storehouse, tell
from tests.broker.transacting import Desk

from quire.broker.coordinators import partition_of
from quire.broker.internal_topics import OFFSETS
from quire.errors import ErrorCode
from quire.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from quire.transactions.transaction import ProducerId
from quire.types import TopicPartition


def request(me: ProducerId, name: str = "t") -> AddOffsetsToTxnRequest:
    return AddOffsetsToTxnRequest(
        transactional_id=name,
        producer_id=me.producer_id,
        producer_epoch=me.epoch,
        group_id="readers",
    )


def partitions(desk: Desk) -> tuple[TopicPartition, ...]:
    machine: Any = dict(desk.host.machines())[desk.host.partition_for("t")]
    found: tuple[TopicPartition, ...] = machine.transactions["t"].partitions
    return found


def test_the_groups_partition_of_the_offsets_topic_takes_part() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        await house.topic(OFFSETS, partitions=3)
        me = await desk.begin()
        for version in range(5):
            answer = await desk.ask(request(me), version)
            assert answer.error_code == ErrorCode.NONE
        assert partitions(desk) == (TopicPartition(OFFSETS, partition_of("readers", 3)),)

    tell(story)


def test_the_topic_may_come_later() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        me = await desk.begin()
        assert (await desk.ask(request(me))).error_code == ErrorCode.NONE
        assert partitions(desk) == (TopicPartition(OFFSETS, partition_of("readers", 7)),)

    tell(story, offsets_topic_num_partitions="7")


def test_strangers_are_refused() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        old = await desk.begin()
        await desk.begin()
        fenced = await desk.ask(request(old), 2)
        assert fenced.error_code == ErrorCode.PRODUCER_FENCED
        fenced = await desk.ask(request(old), 1)
        assert fenced.error_code == ErrorCode.INVALID_PRODUCER_EPOCH
        nameless = await desk.ask(request(old, ""))
        assert nameless.error_code == ErrorCode.INVALID_REQUEST

    tell(story)
