"""What must be true of every image a controller makes, asserted.

Invariants
  I1  A leader is in sync, or nobody leads.
  I2  Who is in sync is a replica; so is who is coming, going, or eligible.
  I3  Epochs never go back.
  I4  A leader is neither fenced nor unknown.
  I5  Who is eligible is not in sync.
  I6  Replicas are distinct, and each has its directory where directories are known.
  I7  Without ELR nobody is eligible, and no in-sync set becomes empty.
  I8  Names and ids of topics belong together; a topic's partitions are numbered from 0.
  I9  Producer ids never go back.
  I10 A broker's epoch never goes back.
  I11 Who enters an in-sync set is not fenced.
"""

from __future__ import annotations

from quire.metadata.image import NO_LEADER, Image, Partition


def check_image(image: Image) -> None:
    """Assert what is true of an image by itself."""
    assert {topic.topic_id: name for name, topic in image.topics.items()} == dict(
        image.topic_names
    ), "I8"
    for topic in image.topics.values():
        assert sorted(topic.partitions) == list(range(len(topic.partitions))), "I8"
        for partition in topic.partitions.values():
            _check_partition(image, partition)


def _check_partition(image: Image, partition: Partition) -> None:
    replicas = set(partition.replicas)
    assert partition.leader == NO_LEADER or partition.leader in partition.isr, "I1"
    assert set(partition.isr) <= replicas, "I2"
    assert {*partition.adding_replicas, *partition.removing_replicas} <= replicas, "I2"
    assert set(partition.elr) <= replicas, "I2"
    if partition.leader != NO_LEADER:
        leader = image.brokers.get(partition.leader)
        assert leader is not None, "I4"
        assert not leader.fenced, "I4"
    assert not set(partition.elr) & set(partition.isr), "I5"
    assert len(replicas) == len(partition.replicas), "I6"
    assert len(partition.directories) in (0, len(partition.replicas)), "I6"
    assert image.has_elr or not partition.elr, "I7"


def check_step(before: Image, after: Image) -> None:
    """Assert what is true of one image and the next."""
    assert after.next_producer_id >= before.next_producer_id, "I9"
    for broker_id, broker in after.brokers.items():
        earlier = before.brokers.get(broker_id)
        assert earlier is None or broker.broker_epoch >= earlier.broker_epoch, "I10"
    for topic, index, partition in before.partitions():
        later = after.partition(topic.topic_id, index)
        if later is not None:
            assert later.partition_epoch >= partition.partition_epoch, "I3"
            assert later.leader_epoch >= partition.leader_epoch, "I3"
            assert later.isr or not partition.isr or before.has_elr, "I7"
            for broker_id in set(later.isr) - set(partition.isr):
                assert not after.brokers[broker_id].fenced, "I11"
