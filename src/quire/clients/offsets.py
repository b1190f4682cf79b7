"""Offsets by name and by time: where a partition begins and ends, and what was first written after a moment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from quire.clients.cluster import Cluster
from quire.clients.errors import expect
from quire.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from quire.protocol.messages.metadata import MetadataResponseTopic

LATEST: Final = -1
EARLIEST: Final = -2
READ_UNCOMMITTED: Final = 0
READ_COMMITTED: Final = 1


def leaders_of(topic: MetadataResponseTopic) -> dict[int, int]:
    """The leader of each partition, in the order of the partitions; -1 where there is none."""
    found = {one.partition_index: one.leader_id for one in topic.partitions}
    return dict(sorted(found.items()))


async def offsets_at(
    cluster: Cluster,
    topic: MetadataResponseTopic,
    timestamps: Mapping[int, int],
    *,
    isolation: int = READ_UNCOMMITTED,
) -> dict[int, int]:
    """For each partition the first offset at its timestamp or later (or LATEST, EARLIEST); -1 when there is none."""
    leaders = leaders_of(topic)
    found: dict[int, int] = {}
    name = topic.name or ""
    for leader in sorted({leaders[partition] for partition in timestamps}):
        wanted = [
            ListOffsetsPartition(partition_index=partition, timestamp=timestamp)
            for partition, timestamp in timestamps.items()
            if leaders[partition] == leader
        ]
        request = ListOffsetsRequest(
            replica_id=-1,
            isolation_level=isolation,
            topics=[ListOffsetsTopic(name=name, partitions=wanted)],
        )
        answer: ListOffsetsResponse = await cluster.ask(request, node_id=leader)
        for one in answer.topics[0].partitions:
            expect(one.error_code, f"offsets of {name}-{one.partition_index}")
            found[one.partition_index] = one.offset
    return found
