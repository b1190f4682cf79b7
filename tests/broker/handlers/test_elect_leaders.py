from __future__ import annotations

import pytest
from tests.broker.scene import Scene

from quire.errors import ErrorCode
from quire.protocol.messages import elect_leaders as electing


@pytest.mark.parametrize("version", range(3))
def test_the_controller_elects(version: int) -> None:
    scene = Scene()
    scene.topic("a")
    here = [electing.TopicPartitions(topic="a", partitions=[0, 7])]
    response = scene.ask(electing.ElectLeadersRequest(topic_partitions=here), version)
    (result,) = response.replica_election_results
    assert [one.error_code for one in result.partition_result] == [
        ErrorCode.ELECTION_NOT_NEEDED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert response.error_code == ErrorCode.NONE


def test_asked_for_everywhere_every_topic_is_answered() -> None:
    scene = Scene()
    scene.topic("a")
    response = scene.ask(electing.ElectLeadersRequest(topic_partitions=None))
    assert [(one.topic, one.partition_result) for one in response.replica_election_results] == [
        ("a", [])
    ]
