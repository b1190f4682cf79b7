from __future__ import annotations

import pytest
from tests.broker.quorum import DIRECTORY, SomeQuorum
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages import describe_quorum as quorum


def asked(*parts: tuple[str, list[int]]) -> quorum.DescribeQuorumRequest:
    return quorum.DescribeQuorumRequest(
        topics=[
            quorum.DescribeQuorumRequestTopicData(
                topic_name=name,
                partitions=[
                    quorum.DescribeQuorumRequestPartitionData(partition_index=index)
                    for index in indexes
                ],
            )
            for name, indexes in parts
        ]
    )


LOG = asked(("__cluster_metadata", [0]))


@pytest.mark.parametrize("version", range(3))
def test_the_leader_tells_how_far_everybody_is(version: int) -> None:
    scene = Scene()
    scene.broker.quorum = SomeQuorum()
    response = scene.ask(LOG, version)
    (partition,) = response.topics[0].partitions
    assert (partition.leader_id, partition.leader_epoch, partition.high_watermark) == (1, 3, 39)
    (voter,), (observer,) = partition.current_voters, partition.observers
    assert (voter.replica_id, voter.log_end_offset) == (1, 40)
    assert (observer.replica_id, observer.log_end_offset) == (5, 38)
    now_ms = scene.clock.wall_ms()
    assert voter.last_fetch_timestamp == (now_ms if version >= 1 else -1)
    assert observer.last_fetch_timestamp == (17 if version >= 1 else -1)
    assert voter.replica_directory_id == (DIRECTORY if version >= 2 else bytes(16))
    nodes = [(one.node_id, one.listeners[0].port) for one in response.nodes]
    assert nodes == ([(1, 9093)] if version >= 2 else [])


@pytest.mark.parametrize(
    "parts",
    [
        [("__cluster_metadata", [1])],
        [("t", [0])],
        [("__cluster_metadata", [0]), ("t", [0])],
        [("__cluster_metadata", [0, 0])],
    ],
)
def test_any_other_question_is_answered_for_all_it_names(
    parts: list[tuple[str, list[int]]],
) -> None:
    scene = Scene()
    scene.broker.quorum = SomeQuorum()
    response = scene.ask(asked(*parts))
    found = [
        (one.topic_name, [p.partition_index for p in one.partitions]) for one in response.topics
    ]
    assert found == parts
    codes = {p.error_code for one in response.topics for p in one.partitions}
    assert codes == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


def test_nothing_asked_nothing_said() -> None:
    scene = Scene()
    scene.broker.quorum = SomeQuorum()
    response = scene.ask(asked())
    assert (response.error_code, response.topics) == (ErrorCode.NONE, [])


def test_who_does_not_lead_does_not_know() -> None:
    scene = Scene()
    scene.broker.quorum = SomeQuorum(leads=False)
    response = scene.ask(LOG)
    assert response.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
