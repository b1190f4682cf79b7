"""DescribeProducers (key 61)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, field, message, structure


@structure
class TopicRequest:
    name: str
    partition_indexes: list[Int32]


@message(key=61, versions=(0, 0), flexible=0)
class DescribeProducersRequest:
    """Producers that write to partitions (KIP-664)."""

    topics: list[TopicRequest]


@structure
class ProducerState:
    producer_id: Int64
    producer_epoch: Int32
    last_sequence: Int32 = field(default=-1)
    last_timestamp: Int64 = field(default=-1)
    coordinator_epoch: Int32
    current_txn_start_offset: Int64 = field(default=-1)


@structure
class PartitionResponse:
    partition_index: Int32
    error_code: Int16
    error_message: str | None = field(default=None)
    active_producers: list[ProducerState]


@structure
class TopicResponse:
    name: str
    partitions: list[PartitionResponse]


@message(key=61, versions=(0, 0), flexible=0)
class DescribeProducersResponse:
    """Their epochs, sequences and open transactions."""

    throttle_time_ms: Int32
    topics: list[TopicResponse]
