"""What is in a log, read by nobody's client: the batches as the broker gives them out."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any, NamedTuple

from quire.protocol.connection import ClientFraming
from quire.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from quire.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from quire.records.batch import BatchHeader, check_crc, decode_records, iterate_headers
from quire.records.record import Record

FETCH_VERSION = 12
LIST_VERSION = 7
LATEST = -1
READ_COMMITTED = 1
MOST_BYTES = 4 << 20


class Batch(NamedTuple):
    header: BatchHeader
    records: list[Record]


def ask(bootstrap: str, request: Any, version: int) -> Any:
    """The answer to one request."""
    host, _, port = bootstrap.partition(":")
    framing = ClientFraming("compat")
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.settimeout(30)
        _, parts = framing.encode_request(request, version)
        connection.sendall(b"".join(parts))
        while True:
            count = connection.recv_into(framing.buffer())
            assert count, "the broker closed the connection"
            for response in framing.received(count):
                return response.decode()


def last_stable_offset(bootstrap: str, topic: str, partition: int = 0) -> int:
    """Where readers of committed data have to stop."""
    wanted = ListOffsetsPartition(partition_index=partition, timestamp=LATEST)
    request = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=READ_COMMITTED,
        topics=[ListOffsetsTopic(name=topic, partitions=[wanted])],
    )
    offset: int = ask(bootstrap, request, LIST_VERSION).topics[0].partitions[0].offset
    return offset


def batches(bootstrap: str, topic: str, partition: int = 0) -> Iterator[Batch]:
    """Every batch of a partition; checksums are checked."""
    offset = 0
    while True:
        wanted = FetchPartition(
            partition=partition, fetch_offset=offset, partition_max_bytes=MOST_BYTES
        )
        answer = ask(
            bootstrap,
            FetchRequest(
                max_wait_ms=0, min_bytes=0, max_bytes=MOST_BYTES,
                topics=[FetchTopic(topic=topic, partitions=[wanted])],
            ),
            FETCH_VERSION,
        )  # fmt: skip
        found = answer.responses[0].partitions[0]
        assert found.error_code == 0, found
        content = bytes(found.records or b"")
        if not content:
            assert offset >= found.high_watermark
            return
        for position, header in iterate_headers(content):
            assert check_crc(content, position, header)
            yield Batch(header, decode_records(content, position, header))
            offset = header.base_offset + header.last_offset_delta + 1
