from __future__ import annotations

from quire.transactions.commands import ending_of
from quire.transactions.states import State
from quire.transactions.transaction import ProducerId, Transaction
from quire.types import TopicPartition


def test_markers_carry_the_id_and_epoch_that_were_decided_not_those_that_come_after() -> None:
    places = (TopicPartition("a", 0),)
    one = Transaction(
        7,
        32767,
        1000,
        State.PREPARE_COMMIT,
        places,
        next_producer_id=8,
        client_version=2,
    )
    ending = ending_of("t", one, committed=True)
    assert ending == ("t", ProducerId(7, 32767), True, places, 2)
    assert one.when_complete == ProducerId(8, 0)
