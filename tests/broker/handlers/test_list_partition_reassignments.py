from __future__ import annotations

from tests.broker.scene import Scene

from quire.protocol.messages import alter_partition_reassignments as moving
from quire.protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest


def test_what_moves_is_listed_whatever_time_is_left() -> None:
    scene = Scene(brokers=2)
    scene.world.topic("a", [1])
    request = ListPartitionReassignmentsRequest(timeout_ms=0, topics=None)
    assert scene.ask(request).topics == []
    move = moving.ReassignablePartition(partition_index=0, replicas=[2])
    scene.ask(
        moving.AlterPartitionReassignmentsRequest(
            topics=[moving.ReassignableTopic(name="a", partitions=[move])]
        )
    )
    (topic,) = scene.ask(request).topics
    (partition,) = topic.partitions
    assert (topic.name, partition.replicas, partition.adding_replicas) == ("a", [2, 1], [2])
