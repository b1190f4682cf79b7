"""A client that writes and reads single partitions of a house, over the simulated network.

desk = await Desk.open(house)
told = await desk.produce("orders", batch_of(3))
found = await desk.fetch("orders", 0)
"""

from __future__ import annotations

from typing import Any

from tests.broker.caller import Caller, Door
from tests.broker.storehouse import Storehouse

from quire.errors import ErrorCode
from quire.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from quire.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from quire.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from quire.records.batch import decode_records, iterate_headers

PRODUCE_BY_NAME = 12
FETCH_BY_NAME = 12


class Desk:
    """See the module."""

    def __init__(self, house: Storehouse, door: Door, caller: Caller) -> None:
        self.house = house
        self.door = door
        self.caller = caller

    @classmethod
    async def open(cls, house: Storehouse, client_id: str = "test") -> Desk:
        door = Door(house)
        return cls(house, door, await door.call(client_id=client_id))

    async def another(self) -> Desk:
        """Another connection to the same listener."""
        return Desk(self.house, self.door, await self.door.call())

    # --- writing ------------------------------------------------------------------------------

    async def produce(
        self, topic: str | bytes, batch: Any, *, partition: int = 0, version: int = 0, **more: Any
    ) -> Any:
        """The answer of one partition."""
        self.send_batch(topic, batch, partition=partition, version=version, **more)
        return one_of(await self.caller.answer())

    def send_batch(
        self, topic: str | bytes, batch: Any, *, partition: int = 0, version: int = 0, **more: Any
    ) -> None:
        """Send, without waiting for the answer; by id where `topic` is one."""
        by_id = isinstance(topic, bytes)
        data = [PartitionProduceData(index=partition, records=batch)]
        named = (
            TopicProduceData(topic_id=topic, partition_data=data)
            if isinstance(topic, bytes)
            else TopicProduceData(name=topic, partition_data=data)
        )
        more.setdefault("acks", 1)
        more.setdefault("timeout_ms", 1000)
        request = ProduceRequest(topic_data=[named], **more)
        self.caller.send(
            request,
            version or (13 if by_id else PRODUCE_BY_NAME),
            expects_response=request.acks != 0,
        )

    # --- reading ------------------------------------------------------------------------------

    async def fetch(self, topic: str | bytes, offset: int, **more: Any) -> Any:
        """The answer of one partition."""
        self.send_fetch(topic, offset, **more)
        return one_of(await self.caller.answer())

    def send_fetch(self, topic: str | bytes, offset: int, *, version: int = 0, **more: Any) -> None:
        """Send, without waiting for the answer. What is not the request's own is the partition's."""
        own = {
            name: more.pop(name)
            for name in ("max_wait_ms", "min_bytes", "max_bytes", "isolation_level")
            if name in more
        }
        follower = more.pop("follower", None)
        if follower is not None:
            own["replica_state"] = ReplicaState(replica_id=follower[0], replica_epoch=follower[1])
        more.setdefault("partition", 0)
        more.setdefault("partition_max_bytes", 1 << 20)
        partitions = [FetchPartition(fetch_offset=offset, **more)]
        by_id = isinstance(topic, bytes)
        named = (
            FetchTopic(topic_id=topic, partitions=partitions)
            if isinstance(topic, bytes)
            else FetchTopic(topic=topic, partitions=partitions)
        )
        request = FetchRequest(**{"max_wait_ms": 0, "min_bytes": 1, **own}, topics=[named])
        self.caller.send(request, version or (18 if by_id else FETCH_BY_NAME))

    async def offset(
        self, topic: str, timestamp: int, *, version: int = 11, partition: int = 0, **more: Any
    ) -> Any:
        """The answer of one partition to ListOffsets."""
        epoch = more.pop("current_leader_epoch", -1)
        asked = ListOffsetsPartition(
            partition_index=partition, timestamp=timestamp, current_leader_epoch=epoch
        )
        more.setdefault("replica_id", -1)
        request = ListOffsetsRequest(
            topics=[ListOffsetsTopic(name=topic, partitions=[asked])], **more
        )
        (found,) = (await self.caller.ask(request, version)).topics
        return found.partitions[0]


def one_of(response: Any) -> Any:
    """The only partition of an answer."""
    (topic,) = response.responses
    found = getattr(topic, "partition_responses", None) or topic.partitions
    (one,) = found
    return one


def code_of(answer: Any) -> ErrorCode:
    return ErrorCode(answer.error_code)


def values_of(answer: Any) -> list[tuple[int, bytes | None]]:
    """(offset, value) of every record of a fetched partition."""
    records = bytes(answer.records or b"")
    return [
        (record.offset, record.value)
        for position, header in iterate_headers(records)
        for record in decode_records(records, position, header)
    ]
