"""Reading partitions by offset: no group, nothing committed, every record as it is in the log.

    reader = Reader(cluster, await cluster.topic("orders"))
    for fetched in await reader.fetch({0: 100, 1: 250}): ...

Invariants
  I1  A record is given once: what lies below the position asked for is left out, though its batch came along.
  I2  With `isolation` READ_COMMITTED no record of an aborted transaction is given, and none behind an open one.
  I3  `next_offset` is behind everything that was looked at, markers and gaps included.
Not here   groups and positions kept between calls (consumer), offsets by time (offsets).
See        KIP-98 (aborted transactions), KIP-227 (these fetches have no session)
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

from quire.clients.cluster import Cluster
from quire.clients.errors import AnswerError, DisconnectedError, UnreachableError
from quire.clients.offsets import READ_COMMITTED, READ_UNCOMMITTED, leaders_of
from quire.errors import CorruptBatchError, ErrorCode, Remedy
from quire.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from quire.protocol.messages.metadata import MetadataResponseTopic
from quire.protocol.schema import Bytes
from quire.records.batch import BatchHeader, check_crc, decode_records, iterate_headers
from quire.records.control import ControlType, read_control_type
from quire.records.record import Record

SESSIONLESS = -1
PATIENCE = 20
"""How often a partition may be without a leader, or its leader away, before that is an error."""
PAUSE_SECONDS = 0.1


class Fetched(NamedTuple):
    """What one fetch gave of one partition."""

    partition: int
    records: list[Record]
    next_offset: int
    high_watermark: int


class Reader:
    """See the module."""

    def __init__(
        self,
        cluster: Cluster,
        topic: MetadataResponseTopic,
        *,
        isolation: int = READ_UNCOMMITTED,
        max_bytes: int = 1 << 20,
    ) -> None:
        self._cluster = cluster
        self._topic = topic
        self._isolation = isolation
        self._max_bytes = max_bytes
        self._failures = 0

    async def fetch(self, positions: Mapping[int, int], *, max_wait_ms: int = 500) -> list[Fetched]:
        """What is there from the positions on; waits a little for more when there is nothing."""
        leaders = leaders_of(self._topic)
        by_leader: dict[int, dict[int, int]] = {}
        for partition, offset in positions.items():
            by_leader.setdefault(leaders[partition], {})[partition] = offset
        try:
            answers = await asyncio.gather(
                *(self._fetch(leader, wanted, max_wait_ms) for leader, wanted in by_leader.items())
            )
        except (DisconnectedError, UnreachableError):
            await self._settle()
            return []
        found = []
        for data, offset in (pair for answer in answers for pair in answer):
            if data.error_code != ErrorCode.NONE:
                await self._forgive(data)
                continue
            self._failures = 0
            found.append(self._taken(data, offset))
        return found

    async def _fetch(
        self, leader: int, wanted: Mapping[int, int], max_wait_ms: int
    ) -> list[tuple[PartitionData, int]]:
        if leader < 0:
            raise UnreachableError(f"{self._topic.name} has partitions without a leader")
        partitions = [
            FetchPartition(
                partition=partition, fetch_offset=offset, partition_max_bytes=self._max_bytes
            )
            for partition, offset in wanted.items()
        ]
        name = self._topic.name or ""
        request = FetchRequest(
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            max_bytes=8 * self._max_bytes,
            isolation_level=self._isolation,
            session_epoch=SESSIONLESS,
            topics=[FetchTopic(topic=name, topic_id=self._topic.topic_id, partitions=partitions)],
        )
        answer: FetchResponse = await self._cluster.ask(request, node_id=leader)
        if answer.error_code != ErrorCode.NONE:
            raise AnswerError(answer.error_code, f"fetching from {name}")
        return [
            (data, wanted[data.partition_index])
            for topic in answer.responses
            for data in topic.partitions
        ]

    def _taken(self, data: PartitionData, offset: int) -> Fetched:
        content = data.records or b""
        aborted = _Aborted(data) if self._isolation == READ_COMMITTED else None
        records: list[Record] = []
        next_offset = offset
        for position, header in iterate_headers(content):
            if not check_crc(content, position, header):
                raise CorruptBatchError(
                    f"{self._topic.name}-{data.partition_index}: the batch at offset "
                    f"{header.base_offset} has a wrong checksum"
                )
            next_offset = max(next_offset, header.next_offset)
            is_hidden = aborted is not None and aborted.hides(header, content, position)
            if not header.is_control and not is_hidden:
                found = decode_records(content, position, header)
                if header.base_offset < offset:
                    found = [one for one in found if one.offset >= offset]  # I1
                records += found
        return Fetched(data.partition_index, records, next_offset, data.high_watermark)

    async def _forgive(self, data: PartitionData) -> None:
        code = ErrorCode.of(data.error_code)
        if code.remedy not in (Remedy.RETRY, Remedy.REFRESH_METADATA):
            raise AnswerError(code, f"{self._topic.name}-{data.partition_index}")
        await self._settle(code)

    async def _settle(self, code: ErrorCode = ErrorCode.NETWORK_EXCEPTION) -> None:
        """The picture of the cluster is old: look again, a little later."""
        self._failures += 1
        if self._failures > PATIENCE:
            raise AnswerError(code, f"topic {self._topic.name}")
        await asyncio.sleep(PAUSE_SECONDS)
        self._topic = await self._cluster.topic(self._topic.name or "")


class _Aborted:
    """Which batches of an answer belong to transactions that were aborted (I2)."""

    def __init__(self, data: PartitionData) -> None:
        listed = data.aborted_transactions or []
        self._ahead = deque(sorted((one.first_offset, one.producer_id) for one in listed))
        self._open: set[int] = set()

    def hides(self, header: BatchHeader, content: Bytes, position: int) -> bool:
        while self._ahead and self._ahead[0][0] <= header.last_offset:
            self._open.add(self._ahead.popleft()[1])
        if header.is_control:
            markers = decode_records(content, position, header)
            if markers and read_control_type(markers[0]) is ControlType.ABORT:
                self._open.discard(header.producer_id)
            return True
        return header.is_transactional and header.producer_id in self._open
