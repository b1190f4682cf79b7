from __future__ import annotations

import pytest
from tests.broker.storehouse import Storehouse, tell
from tests.broker.transacting import Desk, add_request

from quire.errors import ErrorCode
from quire.protocol.messages import add_partitions_to_txn as wire
from quire.transactions.transaction import ProducerId

ORDERS = ("orders", 0)


@pytest.mark.parametrize("version", range(4))
def test_producers_add_partitions_to_one_transaction(version: int) -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        me = await desk.begin()
        answer = await desk.ask(add_request("t", me, ORDERS, ("orders", 1)), version)
        (topic,) = answer.results_by_topic_v3_and_below
        assert [(one.partition_index, one.partition_error_code) for one in topic.results_by_partition] == [
            (0, ErrorCode.NONE),
            (1, ErrorCode.NONE),
        ]  # fmt: skip
        late = ProducerId(me.producer_id, me.epoch + 1)
        refused = await desk.ask(add_request("t", late, ORDERS), version)
        (one,) = refused.results_by_topic_v3_and_below[0].results_by_partition
        assert one.partition_error_code == (
            ErrorCode.PRODUCER_FENCED if version >= 2 else ErrorCode.INVALID_PRODUCER_EPOCH
        )

    tell(story)


def test_where_one_partition_is_unknown_none_is_added() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        me = await desk.begin()
        codes = await desk.add("t", me, ORDERS, ("orders", 9), ("nowhere", 0))
        assert codes == [
            ErrorCode.OPERATION_NOT_ATTEMPTED,
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ]
        assert await desk.add("", me, ORDERS) == [ErrorCode.INVALID_REQUEST]
        assert await desk.produce("t", me, version=11) is ErrorCode.TRANSACTION_ABORTABLE

    tell(story)


@pytest.mark.parametrize("version", [4, 5])
def test_brokers_ask_for_several_and_may_only_want_to_know(version: int) -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        one, two = await desk.begin("one"), await desk.begin("two")

        def transaction(
            name: str, me: ProducerId, *, verify_only: bool
        ) -> wire.AddPartitionsToTxnTransaction:
            return wire.AddPartitionsToTxnTransaction(
                transactional_id=name,
                producer_id=me.producer_id,
                producer_epoch=me.epoch,
                verify_only=verify_only,
                topics=[wire.AddPartitionsToTxnTopic(name="orders", partitions=[0, 1])],
            )

        request = wire.AddPartitionsToTxnRequest(
            transactions=[
                transaction("one", one, verify_only=False),
                transaction("two", two, verify_only=True),
                transaction("two", one, verify_only=True),
            ]
        )
        answer = await desk.ask(request, version)
        assert answer.error_code == ErrorCode.NONE
        codes = [
            [one.partition_error_code for one in result.topic_results[0].results_by_partition]
            for result in answer.results_by_transaction
        ]
        assert codes == [
            [ErrorCode.NONE] * 2,
            [ErrorCode.TRANSACTION_ABORTABLE] * 2,
            [ErrorCode.INVALID_PRODUCER_ID_MAPPING] * 2,
        ]

    tell(story)


def test_who_does_not_coordinate_says_so_of_every_partition() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house, leader=2)
        codes = await desk.add("t", ProducerId(1, 0), ORDERS, ("orders", 1))
        assert codes == [ErrorCode.NOT_COORDINATOR] * 2
        verify = wire.AddPartitionsToTxnRequest(
            transactions=[
                wire.AddPartitionsToTxnTransaction(
                    transactional_id="t",
                    producer_id=1,
                    producer_epoch=0,
                    verify_only=True,
                    topics=[wire.AddPartitionsToTxnTopic(name="orders", partitions=[0])],
                )
            ]
        )
        answer = await desk.ask(verify)
        (one,) = answer.results_by_transaction[0].topic_results[0].results_by_partition
        assert one.partition_error_code == ErrorCode.NOT_COORDINATOR

    tell(story)
