"""Brokers and partitions as a client sees them from the listener that it came by.

A broker counts as alive while it is not fenced and has an endpoint of that listener's name: nobody is told of an
address that is meant for others.

Not here   which answers say it (handlers).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from quire.errors import ErrorCode
from quire.metadata.image import Broker, Endpoint, Image, Partition
from quire.ports.entropy import Entropy

NOBODY = -1


class Node(NamedTuple):
    """A broker at one of its addresses."""

    broker_id: int
    host: str
    port: int
    rack: str | None
    is_fenced: bool


class PartitionState(NamedTuple):
    """Who leads a partition, and who holds it."""

    error: ErrorCode
    leader_id: int
    leader_epoch: int
    replicas: Sequence[int]
    isr: Sequence[int]
    offline: list[int]


def node_of(broker: Broker, listener: str) -> Node | None:
    """A broker's address on one listener."""
    endpoint = endpoint_of(broker.endpoints, listener)
    if endpoint is None:
        return None
    return Node(broker.broker_id, endpoint.host, endpoint.port, broker.rack, broker.fenced)


def endpoint_of(endpoints: Sequence[Endpoint], listener: str) -> Endpoint | None:
    return next((one for one in endpoints if one.name == listener), None)


def alive_nodes(image: Image, listener: str, *, with_fenced: bool = False) -> dict[int, Node]:
    """The brokers that a client of this listener can reach, by id."""
    found = {}
    for broker in image.brokers.values():
        if with_fenced or not broker.fenced:
            node = node_of(broker, listener)
            if node is not None:
                found[broker.broker_id] = node
    return found


def some_broker(image: Image, entropy: Entropy) -> int:
    """The id of any broker that is not fenced: what KRaft brokers call their controller; NOBODY without any."""
    ids = [broker.broker_id for broker in image.brokers.values() if not broker.fenced]
    return ids[entropy.below(len(ids))] if ids else NOBODY


def state_of(
    image: Image,
    partition: Partition,
    nodes: Mapping[int, Node],
    *,
    alive_only: bool = False,
    tells_listeners: bool = True,
) -> PartitionState:
    """How a partition is, seen from where `nodes` are alive.

    `alive_only` leaves replicas out that are not alive and calls that an error (what the first clients expect);
    `tells_listeners` has the leader's missing listener told as such.
    """
    replicas, isr = partition.replicas, partition.isr
    error = ErrorCode.NONE
    leader_id = partition.leader
    if alive_only:
        replicas = tuple(one for one in replicas if one in nodes)
        isr = tuple(one for one in isr if one in nodes)
        if len(replicas) < len(partition.replicas) or len(isr) < len(partition.isr):
            error = ErrorCode.REPLICA_NOT_AVAILABLE
    if leader_id not in nodes:
        known = leader_id in image.brokers
        error = (
            ErrorCode.LISTENER_NOT_FOUND
            if known and tells_listeners
            else ErrorCode.LEADER_NOT_AVAILABLE
        )
        leader_id = NOBODY
    offline = [one for one in partition.replicas if _is_offline(image, partition, one, nodes)]
    return PartitionState(error, leader_id, partition.leader_epoch, replicas, isr, offline)


def _is_offline(
    image: Image, partition: Partition, broker_id: int, nodes: Mapping[int, Node]
) -> bool:
    if broker_id not in nodes:
        return True
    return not image.brokers[broker_id].has_online_directory(partition.directory_of(broker_id))
