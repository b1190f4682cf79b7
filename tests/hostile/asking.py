"""What the tests of hostile clients ask a real node in good faith, and how large its process is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.compat.differential.conversation import Conversation
from tests.interop.quire_node import QuireNode

from quire.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from quire.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from quire.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from quire.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from quire.records.batch import Record, encode_batch

TOPIC = "orders"
PRODUCE_VERSION = 12
FETCH_VERSION = 12
OFFSETS_VERSION = 7


def batch(value: bytes = b"v") -> bytes:
    return bytes(encode_batch([Record(0, 1_700_000_000_000, b"k", value)]))


def make_topic(talk: Conversation, name: str = TOPIC) -> None:
    wanted = CreatableTopic(
        name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    assert talk.ask(CreateTopicsRequest(topics=[wanted]), 7).topics[0].error_code == 0
    talk.settle()


def produce(talk: Conversation, records: bytes, name: str = TOPIC) -> PartitionProduceResponse:
    """What the one partition is answered."""
    data = PartitionProduceData(index=0, records=records)
    request = ProduceRequest(
        acks=-1, timeout_ms=5000,
        topic_data=[TopicProduceData(name=name, partition_data=[data])],
    )  # fmt: skip
    answer = talk.ask(request, PRODUCE_VERSION)
    assert not isinstance(answer, str), answer
    found: PartitionProduceResponse = answer.responses[0].partition_responses[0]
    return found


def fetch(talk: Conversation, offset: int, name: str = TOPIC) -> Any:
    """What the one partition holds from `offset` on."""
    wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    request = FetchRequest(
        max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic=name, partitions=[wanted])]
    )
    return talk.ask(request, FETCH_VERSION).responses[0].partitions[0]


def end_offset(talk: Conversation, name: str = TOPIC) -> int:
    wanted = ListOffsetsPartition(partition_index=0, timestamp=-1)
    request = ListOffsetsRequest(
        replica_id=-1, topics=[ListOffsetsTopic(name=name, partitions=[wanted])]
    )
    offset: int = talk.ask(request, OFFSETS_VERSION).topics[0].partitions[0].offset
    return offset


def resident_bytes(node: QuireNode) -> int:
    """The memory that the process has now."""
    assert node.server is not None
    status = Path(f"/proc/{node.server.pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024
