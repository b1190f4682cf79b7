from __future__ import annotations

import pytest
from tests.tools.scene import asked
from tests.tools.txn.scripts import NOW, TOPICS, transactions

from quire.clients.errors import AnswerError
from quire.protocol.messages import describe_producers as producing
from quire.tools.txn.writers import Writer, writers_of
from quire.types import TopicPartition

ONE = TopicPartition("orders", 0)


def look(scripts, topics=TOPICS):
    async def question(cluster):
        (topic,) = (await cluster.refresh(["orders"])).topics
        return await writers_of(cluster, {"orders": topic}, [ONE])

    return asked(question, scripts, topics)


def test_a_partition_names_its_producers_and_where_open_transactions_begin() -> None:
    found, (request,) = look(transactions())
    assert found == [
        Writer(ONE, 7, 2, 4, NOW - 5_000, 3, 16),
        Writer(ONE, 8, 2, 4, NOW - 5_000, 3, None),
    ]
    assert request.topics[0].partition_indexes == [0]


def test_a_partition_without_a_leader_is_not_asked() -> None:
    assert look(transactions(), {"orders": {0: -1}}) == ([], [])


def test_a_refusal_names_the_partition() -> None:
    def refused(_request, _version):
        one = producing.PartitionResponse(partition_index=0, error_code=29, active_producers=[])
        topic = producing.TopicResponse(name="orders", partitions=[one])
        return producing.DescribeProducersResponse(throttle_time_ms=0, topics=[topic])

    with pytest.raises(AnswerError, match="producers of orders-0: TOPIC_AUTHORIZATION_FAILED"):
        look(transactions(DESCRIBE_PRODUCERS=refused))
