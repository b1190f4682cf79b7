from __future__ import annotations

from tests.metadata.golden_log import LOG, THREE_NODES, replayed

from quire.metadata.image import (
    EMPTY,
    LOST_DIRECTORY,
    MIGRATING_DIRECTORY,
    NO_LEADER,
    UNASSIGNED_DIRECTORY,
    Broker,
    Partition,
)
from quire.types import TopicPartition


def test_an_empty_image_knows_nothing_and_stands_at_the_floor():
    assert EMPTY.metadata_version == 7
    assert not EMPTY.has_elr
    assert EMPTY.topic_by_id(bytes(16)) is None
    assert EMPTY.partition(bytes(16), 0) is None
    assert EMPTY.leader_of(TopicPartition("t", 0)) == NO_LEADER
    assert dict(EMPTY.config(2, "t")) == {}


def test_the_image_of_three_nodes_finds_partitions_by_name_and_by_id():
    image = replayed(THREE_NODES / LOG, until=172).image
    topic = image.topics["r3"]
    assert image.topic_by_id(topic.topic_id) is topic
    assert image.partition(topic.topic_id, 3) == topic.partitions[3]
    assert image.leader_of(TopicPartition("r3", 1)) == 3
    assert image.leader_of(TopicPartition("r3", 99)) == NO_LEADER
    assert len(list(image.partitions())) == 56
    assert image.config(2, "__transaction_state")["min.insync.replicas"] == "2"


def test_the_preferred_leader_is_the_first_replica():
    partition = Partition(replicas=(3, 1), isr=(1,), directories=(b"a" * 16, b"b" * 16))
    assert partition.preferred_leader == 3
    assert partition.directory_of(1) == b"b" * 16
    assert partition.directory_of(9) == MIGRATING_DIRECTORY
    assert not partition.is_reassigning


def test_a_replica_in_no_known_directory_counts_as_online_but_a_lost_one_does_not():
    broker = Broker(1, 5, bytes(16), directories=(b"a" * 16,), fenced=False)
    assert broker.is_active
    assert broker.has_online_directory(b"a" * 16)
    assert broker.has_online_directory(UNASSIGNED_DIRECTORY)
    assert broker.has_online_directory(MIGRATING_DIRECTORY)
    assert not broker.has_online_directory(LOST_DIRECTORY)
    assert not broker.has_online_directory(b"z" * 16)
