from __future__ import annotations

from quire.broker.dispatch import Operation
from quire.broker.permitted import CLUSTER_OPERATIONS, TOPIC_OPERATIONS, bits


def test_everything_that_there_is_as_kafka_says_it() -> None:
    assert bits(Operation.READ, Operation.WRITE) == 0b11000
    assert TOPIC_OPERATIONS == 3576
    assert CLUSTER_OPERATIONS == 8096
