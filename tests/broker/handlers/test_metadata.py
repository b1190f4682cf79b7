from __future__ import annotations

from typing import Any

import pytest
from tests.broker.scene import Scene

from quire.broker.call import Client
from quire.broker.permitted import CLUSTER_OPERATIONS, TOPIC_OPERATIONS, UNSAID
from quire.errors import ErrorCode
from quire.ports.network import Address
from quire.protocol.messages import metadata


def asked(*names: str | None, ids: tuple[bytes, ...] = (), **more: Any) -> metadata.MetadataRequest:
    topics = [metadata.MetadataRequestTopic(name=name) for name in names]
    topics += [metadata.MetadataRequestTopic(name=None, topic_id=one) for one in ids]
    more.setdefault("allow_auto_topic_creation", False)
    return metadata.MetadataRequest(topics=topics, **more)


EVERYTHING = metadata.MetadataRequest(topics=None)


@pytest.mark.parametrize("version", range(14))
def test_a_topic_is_told_in_every_version(version: int) -> None:
    scene = Scene(brokers=3)
    topic_id = scene.topic("orders", partitions=2, factor=3)
    request = asked("orders", allow_auto_topic_creation=True)
    response = scene.ask(request, version)
    assert [(one.node_id, one.host, one.port) for one in response.brokers] == [
        (1, "127.0.0.1", 9093), (2, "127.0.0.1", 9094), (3, "127.0.0.1", 9095),
    ]  # fmt: skip
    (topic,) = response.topics
    assert (topic.name, topic.error_code, topic.is_internal) == ("orders", 0, False)
    assert topic.topic_id == (topic_id if version >= 10 else bytes(16))
    assert [one.partition_index for one in topic.partitions] == [0, 1]
    for one in topic.partitions:
        assert one.error_code == 0
        assert one.leader_id == one.replica_nodes[0]
        assert sorted(one.isr_nodes) == [1, 2, 3]
        assert one.leader_epoch == (0 if version >= 7 else -1)
    assert response.controller_id == (1 if version >= 1 else -1)
    assert (response.cluster_id is not None) == (version >= 2)


def test_null_asks_for_all_and_an_empty_list_for_none() -> None:
    scene = Scene()
    scene.topic("a")
    scene.topic("b")
    assert [one.name for one in scene.ask(EVERYTHING, 1).topics] == ["a", "b"]
    assert scene.ask(asked(), 12).topics == []
    first = metadata.MetadataRequest(topics=[])
    assert [one.name for one in scene.ask(first, 0).topics] == ["a", "b"]


def test_topics_are_told_once_however_often_they_are_asked_for() -> None:
    scene = Scene()
    scene.topic("a")
    assert [one.name for one in scene.ask(asked("a", "a"), 12).topics] == ["a"]


def test_a_topic_that_is_not_there_is_created_when_client_and_broker_agree() -> None:
    for allowed_by_broker, allowed_by_client in ((True, True), (True, False), (False, True)):
        scene = Scene(auto_create_topics_enable=str(allowed_by_broker).lower(), num_partitions="3")
        request = asked("new", "a b", allow_auto_topic_creation=allowed_by_client)
        codes = {one.name: one.error_code for one in scene.ask(request).topics}
        assert codes == {
            "new": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "a b": ErrorCode.INVALID_TOPIC_EXCEPTION,
        }
        expected = 3 if allowed_by_broker and allowed_by_client else 0
        (again,) = scene.ask(asked("new")).topics
        assert len(again.partitions) == expected


def test_an_internal_topic_is_created_with_settings_of_its_own() -> None:
    scene = Scene(offsets_topic_replication_factor="1", offsets_topic_num_partitions="5")
    (first,) = scene.ask(asked("__consumer_offsets", allow_auto_topic_creation=True)).topics
    assert first.is_internal
    (topic,) = scene.ask(asked("__consumer_offsets")).topics
    assert (len(topic.partitions), topic.is_internal) == (5, True)
    assert scene.world.image.config(2, "__consumer_offsets")["cleanup.policy"] == "compact"


def test_topics_by_id() -> None:
    scene = Scene()
    topic_id = scene.topic("a")
    stranger = bytes(range(16))
    found = scene.ask(asked(ids=(topic_id, stranger, topic_id)), 12).topics
    assert [(one.name, one.error_code) for one in found] == [
        ("a", ErrorCode.NONE),
        (None, ErrorCode.UNKNOWN_TOPIC_ID),
    ]


def test_ids_count_and_names_beside_them_do_not() -> None:
    scene = Scene()
    topic_id = scene.topic("a")
    scene.topic("b")
    assert [one.name for one in scene.ask(asked("b", ids=(topic_id,)), 12).topics] == ["a"]


@pytest.mark.parametrize("version", [10, 11])
def test_ids_are_refused_before_version_12(version: int) -> None:
    topics = [metadata.MetadataRequestTopic(name="a", topic_id=bytes(range(16)))]
    (topic,) = Scene().ask(metadata.MetadataRequest(topics=topics), version).topics
    assert (topic.name, topic.error_code) == ("a", ErrorCode.INVALID_REQUEST)


def test_neither_name_nor_id_is_answered_as_kafka_does() -> None:
    response = Scene().ask(asked(None), 12)
    assert [one.error_code for one in response.topics] == [ErrorCode.UNKNOWN_SERVER_ERROR]
    assert response.brokers == []


def test_permitted_operations_are_told_to_who_asks() -> None:
    scene = Scene()
    scene.topic("a")
    silent = scene.ask(asked("a"), 8)
    assert silent.topics[0].topic_authorized_operations == UNSAID
    assert silent.cluster_authorized_operations == UNSAID
    request = asked("a", include_topic_authorized_operations=True)
    request.include_cluster_authorized_operations = True
    told = scene.ask(request, 8)
    assert told.topics[0].topic_authorized_operations == TOPIC_OPERATIONS == 3576
    assert told.cluster_authorized_operations == CLUSTER_OPERATIONS


def test_addresses_are_those_of_the_clients_listener() -> None:
    scene = Scene()
    scene.topic("a")
    stranger = Client(Address("10.0.0.1", 1), "ELSEWHERE")
    response = scene.ask(asked("a"), 13, client=stranger)
    assert response.brokers == []
    (partition,) = response.topics[0].partitions
    assert (partition.error_code, partition.leader_id) == (ErrorCode.LISTENER_NOT_FOUND, -1)
    (old,) = scene.ask(asked("a"), 5, client=stranger).topics[0].partitions
    assert old.error_code == ErrorCode.LEADER_NOT_AVAILABLE
    assert old.offline_replicas == [1]


def test_a_fenced_broker_is_not_told_and_its_replicas_are_offline() -> None:
    scene = Scene(brokers=3)
    scene.topic("a", partitions=3, factor=3)
    scene.world.lose(2)
    scene.catch_up()
    response = scene.ask(asked("a"), 12)
    assert [one.node_id for one in response.brokers] == [1, 3]
    for one in response.topics[0].partitions:
        assert one.offline_replicas == [2]
        assert one.error_code == ErrorCode.NONE
    first = asked("a", allow_auto_topic_creation=True)
    for one in scene.ask(first, 0).topics[0].partitions:
        assert one.error_code == ErrorCode.REPLICA_NOT_AVAILABLE
        assert sorted(one.replica_nodes) == [1, 3]


def test_a_partition_without_a_leader() -> None:
    scene = Scene(brokers=2)
    scene.world.topic("a", [2])
    scene.world.lose(2)
    scene.catch_up()
    (partition,) = scene.ask(asked("a"), 12).topics[0].partitions
    assert (partition.error_code, partition.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)


def test_creation_is_slowed_down_by_a_limit_and_still_done() -> None:
    scene = Scene()
    scene.limit("controller_mutation_rate", 1.0)
    names = [f"t{number}" for number in range(13)]
    response = scene.ask(asked(*names, allow_auto_topic_creation=True))
    assert response.throttle_time_ms == 2000
    assert all(one.error_code == 0 for one in scene.ask(asked(*names)).topics)
