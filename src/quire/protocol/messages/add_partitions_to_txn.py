"""AddPartitionsToTxn (key 24)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int16, Int32, Int64, field, message, structure


@structure
class AddPartitionsToTxnTopic:
    name: str
    partitions: list[Int32]


@structure
class AddPartitionsToTxnTransaction:
    transactional_id: str
    producer_id: Int64
    producer_epoch: Int16
    verify_only: Bool = field(default=False)
    topics: list[AddPartitionsToTxnTopic]


@message(key=24, versions=(0, 5), flexible=3)
class AddPartitionsToTxnRequest:
    """Add partitions to a transaction. v4 for brokers, several at once and verify only
    (KIP-890).
    """

    transactions: list[AddPartitionsToTxnTransaction] = field(since=4, default=[])
    v3_and_below_transactional_id: str = field(until=3, default="")
    v3_and_below_producer_id: Int64 = field(until=3, default=0)
    v3_and_below_producer_epoch: Int16 = field(until=3, default=0)
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = field(until=3, default=[])


@structure
class AddPartitionsToTxnPartitionResult:
    partition_index: Int32
    partition_error_code: Int16


@structure
class AddPartitionsToTxnTopicResult:
    name: str
    results_by_partition: list[AddPartitionsToTxnPartitionResult]


@structure
class AddPartitionsToTxnResult:
    transactional_id: str
    topic_results: list[AddPartitionsToTxnTopicResult]


@message(key=24, versions=(0, 5), flexible=3)
class AddPartitionsToTxnResponse:
    """An error code for each partition. v4 by transaction (KIP-890)."""

    throttle_time_ms: Int32
    error_code: Int16 = field(since=4, default=0, ignorable=True)
    results_by_transaction: list[AddPartitionsToTxnResult] = field(since=4, default=[])
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = field(until=3, default=[])
