"""Requests as the load client sends them: whole frames, encoded once, before anything is measured."""

from __future__ import annotations

from typing import Any

from measure import TIMESTAMP_MS

from quire.protocol.connection import ClientFraming
from quire.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from quire.protocol.messages.metadata import MetadataRequest
from quire.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from quire.records.batch import encode_pairs

PRODUCE_VERSION = 9
FETCH_VERSION = 12
METADATA_VERSION = 12
RECORD_BYTES = 100
MARK = 0x0123_4567_89AB_CDEF


def frame(request: Any, version: int) -> bytes:
    _, parts = ClientFraming("bench").encode_request(request, version)
    return b"".join(bytes(part) for part in parts)


def tiny_batch() -> bytes:
    """One record of 100 bytes."""
    return bytes(encode_pairs([(None, b"v" * RECORD_BYTES)], TIMESTAMP_MS))


def batch_of(size: int) -> bytes:
    """Records of 100 bytes with keys of 10, as many as fit into a batch of `size` bytes."""
    one = len(encode_pairs([(b"key-%06d" % 0, b"v" * RECORD_BYTES)] * 2, TIMESTAMP_MS)) - len(
        encode_pairs([(b"key-%06d" % 0, b"v" * RECORD_BYTES)], TIMESTAMP_MS)
    )
    count = (size - 61) // one
    pairs: list[tuple[bytes | None, bytes | None]] = [
        (b"key-%06d" % number, b"v" * RECORD_BYTES) for number in range(count)
    ]
    made = bytes(encode_pairs(pairs, TIMESTAMP_MS))
    while len(made) > size:
        pairs.pop()
        made = bytes(encode_pairs(pairs, TIMESTAMP_MS))
    return made


def produce(topic: str, partition: int, batch: bytes, acks: int) -> bytes:
    return frame(
        ProduceRequest(
            acks=acks,
            timeout_ms=30000,
            topic_data=[
                TopicProduceData(
                    name=topic,
                    partition_data=[PartitionProduceData(index=partition, records=batch)],
                )
            ],
        ),
        PRODUCE_VERSION,
    )


def fetch(
    topic: str,
    partition: int,
    offset: int,
    size: int,
    *,
    wait_ms: int = 500,
    least: int = 1,
    committed: bool = False,
) -> bytes:
    return frame(
        FetchRequest(
            max_wait_ms=wait_ms,
            min_bytes=least,
            max_bytes=size,
            isolation_level=1 if committed else 0,
            topics=[
                FetchTopic(
                    topic=topic,
                    partitions=[
                        FetchPartition(
                            partition=partition, fetch_offset=offset, partition_max_bytes=size
                        )
                    ],
                )
            ],
        ),
        FETCH_VERSION,
    )


def place_of_fetch_offset(topic: str) -> dict[str, int]:
    """At which byte of a `fetch` frame the offset stands."""
    return {"offset-at": fetch(topic, 0, MARK, 1).index(MARK.to_bytes(8, "big"))}


def metadata() -> bytes:
    """The most trivial question that every client asks: who are you all?"""
    return frame(MetadataRequest(topics=[]), METADATA_VERSION)
