"""How many microseconds does a message take to be written and read, on one core?

The number is of a FetchRequest of 100 partitions, written and read once; other messages are among the remarks. The peer
kafka-python 3 compiles its codecs at run time as well, and reads and writes the same bytes.
"""

from __future__ import annotations

from typing import Any

from measure import Answer, peer, race, tell, turn

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


def contestants(message: Any, version: int, module: str, missing: list[str]) -> dict[str, Any]:
    """Turns by what is done and who does it."""
    ours = codec(type(message), version)
    frame = ours.encode(message)
    turns = {
        "encode": turn(lambda: ours.encode(message)),
        "decode": turn(lambda: ours.decode(frame)),
    }
    name, found = peer("kafka-python", module)
    if found is None:
        missing[:] = [name]
        return turns
    kind = getattr(found, type(message).__name__)
    theirs = kind.decode(frame, version=version)
    theirs._header = None  # noqa: SLF001 -- their reader leaves it out, their writer needs it
    assert bytes(theirs.encode(version=version)) == frame
    turns[f"encode {name}"] = turn(lambda: theirs.encode(version=version))
    turns[f"decode {name}"] = turn(lambda: kind.decode(frame, version=version))
    return turns


def main() -> None:
    missing: list[str] = []
    remarks = []
    answer = None
    for shown, message, version, module in samples():
        spent = race(contestants(message, version, module, missing), rounds=40)
        best = {name: times.best * 1e6 for name, times in spent.items()}
        words = ", ".join(f"{name} {us:.1f}" for name, us in best.items())
        remarks.append(f"{shown}: {words} us")
        if answer is None:
            names = {name.partition(" ")[2] for name in spent} - {""}
            ours = best["encode"] + best["decode"]
            answer = Answer(
                best=ours,
                median=(spent["encode"].median + spent["decode"].median) * 1e6,
                unit="us to write and read a FetchRequest",
                smaller_is_better=True,
                beside={n: (best[f"encode {n}"] + best[f"decode {n}"]) / ours for n in names},
            )
    assert answer is not None
    answer.missing, answer.remarks = missing, remarks
    tell(answer)


if __name__ == "__main__":
    main()
