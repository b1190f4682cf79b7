from __future__ import annotations

import pytest
from tests.broker.scene import BY_CONTROLLER, Scene

from quire.errors import ErrorCode
from quire.protocol.messages import alter_partition as alter


@pytest.mark.parametrize("version", [2, 3])
def test_a_leader_proposes_an_in_sync_set(version: int) -> None:
    scene = Scene(brokers=2)
    scene.world.topic("a", [1, 2])
    partition = scene.world.partition("a")
    states = [alter.BrokerState(broker_id=1)]
    proposal = alter.AlterPartitionRequestPartitionData(
        partition_index=0,
        leader_epoch=partition.leader_epoch,
        leader_recovery_state=0,
        partition_epoch=partition.partition_epoch,
        **({"new_isr_with_epochs": states} if version >= 3 else {"new_isr": [1]}),
    )
    topic = alter.AlterPartitionRequestTopicData(
        topic_id=scene.world.image.topics["a"].topic_id, partitions=[proposal]
    )
    scene.catch_up()
    request = alter.AlterPartitionRequest(
        broker_id=1, broker_epoch=scene.broker.broker_epoch, topics=[topic]
    )
    (answer,) = scene.ask(request, version, client=BY_CONTROLLER).topics[0].partitions
    assert (answer.error_code, answer.isr) == (ErrorCode.NONE, [1])
    assert scene.world.partition("a").isr == (1,)


def test_a_controller_that_is_not_active_says_so() -> None:
    scene = Scene()
    scene.link.away = 1
    request = alter.AlterPartitionRequest(broker_id=1, broker_epoch=0, topics=[])
    response = scene.ask(request, client=BY_CONTROLLER)
    assert response.error_code == ErrorCode.NOT_CONTROLLER
