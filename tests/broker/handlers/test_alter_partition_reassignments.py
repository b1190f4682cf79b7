from __future__ import annotations

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages import alter_partition_reassignments as moving


@pytest.mark.parametrize("version", range(2))
def test_the_controller_moves(version: int) -> None:
    scene = Scene(brokers=2)
    scene.world.topic("a", [1])
    moves = [
        moving.ReassignablePartition(partition_index=0, replicas=[2]),
        moving.ReassignablePartition(partition_index=1, replicas=[2]),
    ]
    request = moving.AlterPartitionReassignmentsRequest(
        topics=[moving.ReassignableTopic(name="a", partitions=moves)]
    )
    response = scene.ask(request, version)
    (topic,) = response.responses
    assert [one.error_code for one in topic.partitions] == [
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert scene.world.partition("a").adding_replicas == (2,)


def test_without_time_nothing_moves() -> None:
    scene = Scene(brokers=2)
    request = moving.AlterPartitionReassignmentsRequest(timeout_ms=0, topics=[])
    assert scene.ask(request).error_code == ErrorCode.REQUEST_TIMED_OUT
