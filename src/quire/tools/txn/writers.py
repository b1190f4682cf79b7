"""What partitions say of the producers that write into them.

See   KIP-664
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from quire.clients.cluster import Cluster
from quire.clients.errors import expect
from quire.clients.offsets import leaders_of
from quire.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)
from quire.protocol.messages.metadata import MetadataResponseTopic
from quire.types import TopicPartition

NO_TRANSACTION: Final = -1


class Writer(NamedTuple):
    """A producer as a partition knows it; `begins` is where its open transaction begins, None when it has none."""

    place: TopicPartition
    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_ms: int
    coordinator_epoch: int
    begins: int | None


async def writers_of(
    cluster: Cluster,
    topics: Mapping[str, MetadataResponseTopic],
    places: Iterable[TopicPartition],
) -> list[Writer]:
    """The producers of all these partitions, asked of their leaders; those without a leader are left out."""
    by_leader: dict[int, dict[str, list[int]]] = {}
    for place in sorted(places):
        leader = leaders_of(topics[place.topic]).get(place.partition, -1)
        if leader >= 0:
            by_leader.setdefault(leader, {}).setdefault(place.topic, []).append(place.partition)
    found = []
    for leader, wanted in sorted(by_leader.items()):
        request = DescribeProducersRequest(
            topics=[
                TopicRequest(name=name, partition_indexes=partitions)
                for name, partitions in wanted.items()
            ]
        )
        answer: DescribeProducersResponse = await cluster.ask(request, node_id=leader)
        for topic in answer.topics:
            for one in topic.partitions:
                place = TopicPartition(topic.name, one.partition_index)
                expect(one.error_code, f"producers of {place}", one.error_message)
                found += [
                    Writer(
                        place,
                        producer.producer_id,
                        producer.producer_epoch,
                        producer.last_sequence,
                        producer.last_timestamp,
                        producer.coordinator_epoch,
                        _offset(producer.current_txn_start_offset),
                    )
                    for producer in one.active_producers
                ]
    return found


def _offset(number: int) -> int | None:
    return None if number == NO_TRANSACTION else number
