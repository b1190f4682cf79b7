from __future__ import annotations

from dataclasses import replace

from tests.broker.scene import Scene

from quire.broker.nodes import NOBODY, alive_nodes, endpoint_of, node_of, some_broker, state_of
from quire.errors import ErrorCode
from quire.metadata.image import EMPTY, Endpoint, Partition


def test_a_broker_is_where_its_listener_is() -> None:
    broker = Scene().world.image.brokers[1]
    node = node_of(broker, "PLAINTEXT")
    assert node is not None
    assert (node.broker_id, node.host, node.port, node.is_fenced) == (1, "127.0.0.1", 9093, False)
    assert node_of(broker, "INSIDE") is None
    assert endpoint_of([Endpoint("A", "h", 1, 0), Endpoint("B", "h", 2, 0)], "B") == (
        "B",
        "h",
        2,
        0,
    )


def test_alive_is_who_is_not_fenced_and_can_be_reached() -> None:
    scene = Scene(brokers=3)
    scene.world.lose(2)
    image = scene.world.image
    assert list(alive_nodes(image, "PLAINTEXT")) == [1, 3]
    assert list(alive_nodes(image, "PLAINTEXT", with_fenced=True)) == [1, 2, 3]
    assert alive_nodes(image, "INSIDE") == {}


def test_some_broker_is_one_that_lives() -> None:
    scene = Scene(brokers=2)
    scene.world.lose(1)
    assert some_broker(scene.world.image, scene.world.entropy) == 2
    assert some_broker(EMPTY, scene.world.entropy) == NOBODY


def test_a_directory_that_failed_takes_its_replicas_offline() -> None:
    image = Scene().world.image
    nodes = alive_nodes(image, "PLAINTEXT")
    (directory,) = image.brokers[1].directories
    partition = Partition(replicas=(1,), isr=(1,), leader=1, directories=(directory,))
    assert state_of(image, partition, nodes).offline == []
    lost = replace(partition, directories=(b"x" * 16,))
    assert state_of(image, lost, nodes).offline == [1]


def test_a_leader_that_cannot_be_reached() -> None:
    image = Scene().world.image
    partition = Partition(replicas=(1,), isr=(1,), leader=1)
    found = state_of(image, partition, {})
    assert (found.error, found.leader_id) == (ErrorCode.LISTENER_NOT_FOUND, NOBODY)
    assert state_of(image, partition, {}, tells_listeners=False).error == (
        ErrorCode.LEADER_NOT_AVAILABLE
    )
    stranger = Partition(replicas=(9,), isr=(9,), leader=9)
    assert state_of(image, stranger, {}).error == ErrorCode.LEADER_NOT_AVAILABLE
    partly = Partition(replicas=(1, 9), isr=(1,), leader=1)
    nodes = alive_nodes(image, "PLAINTEXT")
    assert state_of(image, partly, nodes).error == ErrorCode.NONE
    found = state_of(image, partly, nodes, alive_only=True)
    assert (found.error, found.replicas) == (ErrorCode.REPLICA_NOT_AVAILABLE, (1,))
