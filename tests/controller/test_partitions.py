from __future__ import annotations

import pytest
from tests.controller.world import World, directory, kinds

from quire.controller.machine import BALANCE, UNCLEAN
from quire.errors import ErrorCode
from quire.metadata.image import RECOVERING
from quire.protocol.messages import alter_partition as alter
from quire.protocol.messages import assign_replicas_to_dirs as assign
from quire.protocol.messages import elect_leaders as electing


@pytest.fixture
def world():
    world = World().start(1, 2, 3)
    world.topic("t", [1, 2, 3])
    return world


def answer_of(response):
    return response.topics[0].partitions[0]


def code_of(response):
    return ErrorCode(answer_of(response).error_code)


def test_a_leader_shrinks_and_expands_its_in_sync_set(world):
    shrunk = answer_of(world.propose("t", [1, 2]))
    assert (shrunk.error_code, shrunk.isr, shrunk.partition_epoch) == (0, [1, 2], 1)
    assert world.partition("t").isr == (1, 2)
    expanded = answer_of(world.propose("t", [1, 2, 3]))
    assert (expanded.isr, expanded.partition_epoch, expanded.leader_epoch) == ([1, 2, 3], 2, 0)


def test_a_proposal_that_changes_nothing_is_answered_and_not_written(world):
    written = len(world.log)
    assert answer_of(world.propose("t", [1, 2, 3])).partition_epoch == 0
    assert len(world.log) == written


def test_the_older_form_of_a_proposal_is_taken_too(world):
    assert code_of(world.propose("t", [], new_isr=[1, 3])) is ErrorCode.NONE
    assert world.partition("t").isr == (1, 3)


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"leader_epoch": 1}, "NOT_CONTROLLER"),
        ({"partition_epoch": 1}, "NOT_CONTROLLER"),
        ({"leader_epoch": -1}, "FENCED_LEADER_EPOCH"),
        ({"partition_epoch": -1}, "INVALID_UPDATE_VERSION"),
        ({"leader": 2}, "INVALID_REQUEST"),
        ({"new_isr": [2, 3]}, "INVALID_REQUEST"),
        ({"new_isr": [1, 9]}, "INVALID_REQUEST"),
        ({"new_isr": [1, 1]}, "INVALID_REQUEST"),
        ({"leader_recovery_state": 1}, "INVALID_REQUEST"),
        ({"leader_recovery_state": 7}, "INVALID_REQUEST"),
        ({"topic_id": b"x" * 16}, "UNKNOWN_TOPIC_ID"),
        ({"partition_index": 5}, "UNKNOWN_TOPIC_OR_PARTITION"),
    ],
    ids=str,
)
def test_a_proposal_out_of_date_or_out_of_reason_is_refused(world, more, code):
    written = len(world.log)
    assert code_of(world.propose("t", [1, 2], **more)).name == code
    assert len(world.log) == written


def test_nobody_enters_who_is_fenced_stopping_or_another_process(world):
    world.propose("t", [1])
    older = alter.BrokerState(broker_id=2, broker_epoch=1)
    leader = alter.BrokerState(broker_id=1, broker_epoch=-1)
    response = world.propose("t", [], new_isr_with_epochs=[leader, older])
    assert code_of(response) is ErrorCode.INELIGIBLE_REPLICA
    world.lose(2)
    assert code_of(world.propose("t", [1, 2])) is ErrorCode.INELIGIBLE_REPLICA
    world.topic("u", [3])
    world.beat(3, want_shut_down=True)
    assert code_of(world.propose("t", [1, 3])) is ErrorCode.INELIGIBLE_REPLICA


def test_a_leader_of_another_life_is_stale(world):
    request = alter.AlterPartitionRequest(broker_id=1, broker_epoch=1, topics=[])
    assert world.do(request).response.error_code == ErrorCode.STALE_BROKER_EPOCH


def test_preferred_leaders_are_elected_on_demand(world):
    world.lose(1)
    world.start(1)
    assert world.partition("t").leader == 2
    request = electing.ElectLeadersRequest(
        topic_partitions=[electing.TopicPartitions(topic="t", partitions=[0, 7])]
    )
    results = world.do(request).response.replica_election_results[0].partition_result
    assert [ErrorCode(one.error_code).name for one in results] == [
        "PREFERRED_LEADER_NOT_AVAILABLE", "UNKNOWN_TOPIC_OR_PARTITION",
    ]  # fmt: skip
    world.propose("t", [2, 3, 1])
    decision = world.do(electing.ElectLeadersRequest(topic_partitions=None))
    assert kinds(decision) == ["PartitionChange"]
    assert decision.response.replica_election_results[0].partition_result[0].error_code == 0
    assert world.partition("t").leader == 1
    again = world.do(electing.ElectLeadersRequest(topic_partitions=None)).response
    (listed,) = again.replica_election_results
    assert listed.partition_result == [], "those that need none are left out"
    named = world.do(request).response.replica_election_results[0].partition_result[0]
    assert named.error_code == ErrorCode.ELECTION_NOT_NEEDED


def test_anybody_alive_is_elected_where_that_was_asked_for():
    world = World().start(1, 2)
    world.topic("t", [1, 2])
    world.propose("t", [1])
    world.lose(1)
    everywhere = electing.ElectLeadersRequest(election_type=1, topic_partitions=None)
    assert world.partition("t").leader == -1
    world.do(everywhere)
    after = world.partition("t")
    assert (after.leader, after.isr, after.leader_recovery_state) == (2, (2,), RECOVERING)
    assert world.do(everywhere).response.replica_election_results[0].partition_result == []
    world.lose(2)
    result = world.do(everywhere).response.replica_election_results[0].partition_result[0]
    assert result.error_code == ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
    strange = electing.ElectLeadersRequest(election_type=9, topic_partitions=None)
    assert world.do(strange).response.error_code == ErrorCode.INVALID_REQUEST
    here = [electing.TopicPartitions(topic="t", partitions=[0])]
    strange = electing.ElectLeadersRequest(election_type=9, topic_partitions=here)
    (listed,) = world.do(strange).response.replica_election_results
    assert listed.partition_result[0].error_code == ErrorCode.INVALID_REQUEST


def test_a_partition_that_is_named_twice_is_answered_twice_and_elected_once():
    world = World().start(1, 2)
    world.topic("t", [1, 2])
    world.propose("t", [1])
    world.lose(1)
    here = [electing.TopicPartitions(topic="t", partitions=[0, 0])] * 2
    decision = world.do(electing.ElectLeadersRequest(election_type=1, topic_partitions=here))
    assert kinds(decision) == ["PartitionChange"]
    codes = [
        [one.error_code for one in listed.partition_result]
        for listed in decision.response.replica_election_results
    ]
    assert codes == [[0, 0], [0, 0]]


def test_a_leader_tells_that_it_has_recovered():
    world = World(unclean_leader_election_enable=True).start(1, 2)
    world.topic("t", [1, 2])
    world.propose("t", [1])
    world.lose(1)
    assert world.partition("t").leader_recovery_state == RECOVERING
    world.start(1)
    both = world.propose("t", [2, 1], leader_recovery_state=1)
    assert code_of(both) is ErrorCode.INVALID_REQUEST
    world.propose("t", [2, 1])
    assert world.partition("t").leader_recovery_state == 0


def test_leaders_are_balanced_by_the_clock(world):
    world.lose(1)
    world.start(1)
    assert world.tick(BALANCE).records == ()
    world.propose("t", [2, 3, 1])
    assert kinds(world.tick(BALANCE)) == ["PartitionChange"]
    assert world.partition("t").leader == 1


def test_unclean_elections_happen_by_the_clock_where_a_topic_allows_them():
    world = World().start(1, 2)
    world.topic("t", [1, 2])
    world.propose("t", [1])
    world.lose(1)
    assert world.tick(UNCLEAN).records == ()
    world.set(2, "t", "unclean.leader.election.enable", "true")
    assert kinds(world.tick(UNCLEAN)) == ["PartitionChange"]
    assert world.partition("t").leader == 2


def assignment(world, broker_id, ident, topic_id, index=0, **more):
    return world.do(
        assign.AssignReplicasToDirsRequest(
            broker_id=broker_id,
            broker_epoch=more.pop("epoch", world.image.brokers[broker_id].broker_epoch),
            directories=[
                assign.AssignReplicasToDirsRequestDirectoryData(
                    id=ident,
                    topics=[
                        assign.AssignReplicasToDirsRequestTopicData(
                            topic_id=topic_id,
                            partitions=[
                                assign.AssignReplicasToDirsRequestPartitionData(
                                    partition_index=index
                                )
                            ],
                        )
                    ],
                )
            ],
        )
    ).response


def test_a_broker_tells_where_its_replica_is(world):
    topic_id = world.image.topics["t"].topic_id
    response = assignment(world, 2, directory(2), topic_id)
    assert response.directories[0].topics[0].partitions[0].error_code == 0
    world.start(4)
    codes = [
        assignment(world, 4, directory(4), topic_id),
        assignment(world, 2, directory(2), b"x" * 16),
        assignment(world, 2, directory(2), topic_id, 5),
    ]
    found = [one.directories[0].topics[0].partitions[0].error_code for one in codes]
    assert [ErrorCode(one).name for one in found] == [
        "NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_ID", "UNKNOWN_TOPIC_OR_PARTITION",
    ]  # fmt: skip
    stale = assignment(world, 2, directory(2), topic_id, epoch=1)
    assert stale.error_code == ErrorCode.STALE_BROKER_EPOCH


def test_a_replica_in_a_lost_directory_is_out_of_sync(world):
    topic_id = world.image.topics["t"].topic_id
    assignment(world, 1, bytes(15) + b"\x02", topic_id)
    after = world.partition("t")
    assert (after.leader, after.isr) == (2, (2, 3))
    assert after.directories[0] == bytes(15) + b"\x02"
