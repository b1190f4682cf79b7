"""How many microseconds does a message take to be written and to be read, on one core?

The best of many short runs is shown: on a shared machine it is the number that repeats. The peer is
kafka-python 3, which compiles its codecs at run time as well; it reads and writes the same bytes.
"""

from __future__ import annotations

import importlib
import sys
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from quire.protocol.compiler import codec
from quire.protocol.messages.api_versions import ApiVersionsRequest
from quire.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from quire.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from quire.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

CALLS_PER_RUN = 200
RUNS = 40


def samples() -> list[tuple[str, Any, int, str]]:
    """What is shown, the message, its version, the peer's module."""
    fetch = FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        topics=[
            FetchTopic(
                topic="orders",
                partitions=[
                    FetchPartition(
                        partition=number, fetch_offset=number * 1000, partition_max_bytes=1 << 20
                    )
                    for number in range(100)
                ],
            )
        ],
        rack_id="a",
    )
    produce = ProduceRequest(
        acks=-1,
        timeout_ms=30_000,
        transactional_id=None,
        topic_data=[
            TopicProduceData(
                name="orders",
                partition_data=[PartitionProduceData(index=0, records=bytes(1024))],
            )
        ],
    )
    metadata = MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=n, host=f"broker-{n}", port=9092) for n in (1, 2, 3)
        ],
        cluster_id="PzJIwIKORUm3lDcXOerb8A",
        controller_id=1,
        topics=[
            MetadataResponseTopic(
                error_code=0,
                name=f"topic-{number}",
                topic_id=bytes(15) + bytes((number,)),
                partitions=[
                    MetadataResponsePartition(
                        error_code=0,
                        partition_index=index,
                        leader_id=1,
                        leader_epoch=5,
                        replica_nodes=[1, 2, 3],
                        isr_nodes=[1, 2, 3],
                        offline_replicas=[],
                    )
                    for index in range(10)
                ],
            )
            for number in range(10)
        ],
    )
    tiny = ApiVersionsRequest(client_software_name="quire", client_software_version="0.1")
    return [
        ("FetchRequest v12, 100 partitions", fetch, 12, "kafka.protocol.consumer.fetch"),
        ("ProduceRequest v9, 1 KB", produce, 9, "kafka.protocol.producer.produce"),
        ("MetadataResponse v12, 100 partitions", metadata, 12, "kafka.protocol.metadata.metadata"),
        ("ApiVersionsRequest v3", tiny, 3, "kafka.protocol.metadata.api_versions"),
    ]


def best_us(call: Callable[[], object]) -> float:
    """Microseconds of one call, in the best of the runs."""
    return min(timeit.repeat(call, number=CALLS_PER_RUN, repeat=RUNS)) / CALLS_PER_RUN * 1e6


def peer_of(module: str, name: str) -> Any:
    """The peer's class for a message; says so loudly when it is not there."""
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as reason:
        print(f"  PEER MISSING: no ratio to kafka-python 3 ({reason})")
        return None


def main() -> None:
    for shown, message, version, module in samples():
        ours = codec(type(message), version)
        frame = ours.encode(message)
        writing = best_us(lambda ours=ours, message=message: ours.encode(message))
        reading = best_us(lambda ours=ours, frame=frame: ours.decode(frame))
        print(f"{shown}: encode {writing:.2f} us, decode {reading:.2f} us, {len(frame)} bytes")
        peer = peer_of(module, type(message).__name__)
        if peer is None:
            continue
        theirs = peer.decode(frame, version=version)
        theirs._header = None  # noqa: SLF001 -- their reader leaves it out, their writer needs it
        assert bytes(theirs.encode(version=version)) == frame
        slow_writing = best_us(lambda theirs=theirs, v=version: theirs.encode(version=v))
        slow_reading = best_us(lambda p=peer, f=frame, v=version: p.decode(f, version=v))
        print(
            f"  kafka-python: encode {slow_writing:.2f} us ({slow_writing / writing:.1f} times ours),"
            f" decode {slow_reading:.2f} us ({slow_reading / reading:.1f} times ours)"
        )


if __name__ == "__main__":
    main()
