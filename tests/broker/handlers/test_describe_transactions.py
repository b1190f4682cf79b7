from __future__ import annotations

from tests.broker.storehouse import Storehouse, tell
from tests.broker.transacting import Desk

from quire.errors import ErrorCode
from quire.protocol.messages.describe_transactions import DescribeTransactionsRequest


def test_what_is_known_of_an_id_is_told_and_what_is_not_is_said() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house)
        me = await desk.begin(timeout_ms=1234)
        await desk.add("t", me, ("orders", 1), ("orders", 0))
        answer = await desk.ask(DescribeTransactionsRequest(transactional_ids=["t", "u", "t"]))
        known, unknown = answer.transaction_states
        assert known.error_code == ErrorCode.NONE
        assert (known.transactional_id, known.transaction_state) == ("t", "Ongoing")
        assert (known.producer_id, known.producer_epoch) == me
        assert known.transaction_timeout_ms == 1234
        assert known.transaction_start_time_ms > 0
        assert [(one.topic, one.partitions) for one in known.topics] == [("orders", [0, 1])]
        assert unknown.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
        assert (unknown.transactional_id, unknown.transaction_state) == ("u", "")

    tell(story)


def test_who_does_not_coordinate_says_so() -> None:
    async def story(house: Storehouse) -> None:
        desk = await Desk.open(house, leader=2)
        answer = await desk.ask(DescribeTransactionsRequest(transactional_ids=["t"]))
        assert answer.transaction_states[0].error_code == ErrorCode.NOT_COORDINATOR

    tell(story)
