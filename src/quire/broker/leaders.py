"""Where clients that asked the wrong broker should go: the leader's epoch and address, in tags of the answer.

See        KIP-951
"""

from __future__ import annotations

from typing import NamedTuple

from quire.broker.nodes import node_of
from quire.metadata.image import Image


class LeaderHint(NamedTuple):
    """Who leads a partition, as far as this broker knows."""

    leader_id: int
    leader_epoch: int


class LeaderAddress(NamedTuple):
    """Where a leader is, on the asker's listener."""

    node_id: int
    host: str
    port: int
    rack: str | None


def hint(image: Image, topic: str, partition: int) -> LeaderHint | None:
    """Who leads; None when the partition is not known."""
    known = image.topics.get(topic)
    found = None if known is None else known.partitions.get(partition)
    return None if found is None else LeaderHint(found.leader, found.leader_epoch)


def address(image: Image, leader_id: int, listener: str) -> LeaderAddress | None:
    """The leader's address; None when it has none on this listener, or is not known."""
    broker = image.brokers.get(leader_id)
    node = None if broker is None or broker.fenced else node_of(broker, listener)
    return None if node is None else LeaderAddress(node.broker_id, node.host, node.port, node.rack)
