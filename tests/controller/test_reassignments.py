from __future__ import annotations

import pytest
from tests.controller.world import World

from quire.errors import ErrorCode
from quire.protocol.messages import alter_partition_reassignments as moving
from quire.protocol.messages import list_partition_reassignments as listing


@pytest.fixture
def world():
    world = World().start(1, 2, 3, 4)
    world.topic("t", [1, 2])
    return world


def move(world, replicas, name="t", index=0, **more):
    one = moving.ReassignablePartition(partition_index=index, replicas=replicas)
    request = moving.AlterPartitionReassignmentsRequest(
        topics=[moving.ReassignableTopic(name=name, partitions=[one])], **more
    )
    return ErrorCode(world.do(request).response.responses[0].partitions[0].error_code)


def listed(world, topics=None):
    response = world.do(listing.ListPartitionReassignmentsRequest(topics=topics)).response
    return {
        topic.name: [
            (one.partition_index, one.replicas, one.adding_replicas, one.removing_replicas)
            for one in topic.partitions
        ]
        for topic in response.topics
    }


def test_a_partition_moves_when_the_new_replicas_are_in_sync(world):
    assert move(world, [3, 4]) is ErrorCode.NONE
    during = world.partition("t")
    assert (during.replicas, during.leader, during.isr) == ((3, 4, 1, 2), 1, (1, 2))
    assert listed(world) == {"t": [(0, [3, 4, 1, 2], [3, 4], [1, 2])]}
    world.propose("t", [1, 2, 3])
    assert world.partition("t").is_reassigning, "4 is not in sync yet"
    last = world.propose("t", [1, 2, 3, 4]).topics[0].partitions[0]
    assert last.error_code == ErrorCode.NEW_LEADER_ELECTED
    after = world.partition("t")
    assert (after.replicas, after.isr, after.leader, after.leader_epoch) == ((3, 4), (3, 4), 3, 1)
    assert listed(world) == {}


def test_a_move_can_be_cancelled(world):
    move(world, [3, 1])
    world.propose("t", [1, 2])
    assert move(world, None) is ErrorCode.NONE
    after = world.partition("t")
    assert (after.replicas, after.isr, after.leader) == ((1, 2), (1, 2), 1)
    assert not after.is_reassigning
    assert move(world, None) is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


def test_a_move_with_none_of_the_old_in_sync_cannot_be_cancelled(world):
    move(world, [3, 4])
    world.propose("t", [1, 2, 3])
    world.lose(1)
    world.lose(2)
    assert world.partition("t").isr == (3,)
    assert move(world, None) is ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_a_move_can_be_moved_on(world):
    move(world, [3, 1])
    move(world, [4, 1])
    during = world.partition("t")
    assert (during.replicas, during.adding_replicas) == ((4, 1, 3, 2), (4,))
    assert set(during.removing_replicas) == {2, 3}
    world.propose("t", [1, 4])
    assert world.partition("t").replicas == (4, 1)


def test_a_new_order_is_no_move_but_another_preferred_leader(world):
    assert move(world, [2, 1]) is ErrorCode.NONE
    after = world.partition("t")
    assert (after.replicas, after.leader, after.preferred_leader) == ((2, 1), 1, 2)
    assert not after.is_reassigning


@pytest.mark.parametrize(
    ("replicas", "more", "code"),
    [
        ([], {}, "INVALID_REPLICA_ASSIGNMENT"),
        ([3, 3], {}, "INVALID_REPLICA_ASSIGNMENT"),
        ([9], {}, "INVALID_REPLICA_ASSIGNMENT"),
        ([3], {"allow_replication_factor_change": False}, "INVALID_REPLICATION_FACTOR"),
        ([3], {"name": "x"}, "UNKNOWN_TOPIC_OR_PARTITION"),
        ([3], {"index": 4}, "UNKNOWN_TOPIC_OR_PARTITION"),
    ],
)
def test_moves_that_cannot_be_are_refused(world, replicas, more, code):
    written = len(world.log)
    assert move(world, replicas, **more).name == code
    assert len(world.log) == written


def test_only_the_partitions_named_are_listed(world):
    world.topic("u", [1], [1])
    move(world, [2], "u", 1)
    topics = [
        listing.ListPartitionReassignmentsTopics(name=name, partition_indexes=indexes)
        for name, indexes in (("u", [1, 5]), ("t", [0]), ("x", [0]))
    ]
    assert listed(world, topics) == {"u": [(1, [2, 1], [2], [1])]}
