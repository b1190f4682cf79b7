from __future__ import annotations

import pytest
from tests.broker.storehouse import Storehouse, tell
from tests.broker.transacting import Desk

from quire.broker.markers import Marker, request_of
from quire.errors import ErrorCode
from quire.protocol.messages import write_txn_markers as wire
from quire.types import TopicPartition


@pytest.mark.parametrize("version", [1, 2])
def test_another_coordinators_markers_end_transactions_here(version: int) -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        me = await desk.begin()
        assert await desk.produce("t", me) is ErrorCode.NONE
        assert desk.stable_offset() == 0
        marker = Marker(me.producer_id, me.epoch + 1, True, 3, 2)
        places = [TopicPartition("orders", 0), TopicPartition("nowhere", 0)]
        answer = await desk.ask(request_of(marker, places), version)
        (result,) = answer.markers
        assert result.producer_id == me.producer_id
        assert [
            (topic.name, [(one.partition_index, one.error_code) for one in topic.partitions])
            for topic in result.topics
        ] == [
            ("orders", [(0, ErrorCode.NONE)]),
            ("nowhere", [(0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]),
        ]
        assert (desk.stable_offset(), desk.end_offset()) == (2, 2)

    tell(story)


def test_the_version_of_the_transaction_says_how_its_epoch_is_judged() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        me = await desk.begin()
        await desk.produce("t", me)
        marker = Marker(me.producer_id, me.epoch, False, 3, 2)
        place = [TopicPartition("orders", 0)]

        async def code(version: int) -> int:
            answer: wire.WriteTxnMarkersResponse = await desk.ask(
                request_of(marker, place), version
            )
            return answer.markers[0].topics[0].partitions[0].error_code

        assert await code(2) == ErrorCode.INVALID_PRODUCER_EPOCH
        assert await code(1) == ErrorCode.NONE

    tell(story)
