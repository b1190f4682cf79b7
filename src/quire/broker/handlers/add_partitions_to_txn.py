"""AddPartitionsToTxn: these partitions shall take part in a transaction, or: do they?

Up to version 3 a producer asks, for one transaction; from version 4 on brokers do, for several, and may only want to
know (verify only). Where one partition is refused, none of its transaction is added.

Versions   2 PRODUCER_FENCED is known · 4 for brokers · 5 brokers add partitions for producers
Not here   who asks for producers (verification).
See        KIP-98, KIP-890
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.transactions import as_known, ask
from quire.errors import ErrorCode
from quire.protocol.messages import add_partitions_to_txn as wire
from quire.transactions.commands import Add, Verify
from quire.transactions.transaction import EPOCH_BUMP_VERSION, ProducerId
from quire.types import TopicPartition

FOR_BROKERS_SINCE: Final = 4

Codes = Mapping[TopicPartition, ErrorCode]


async def handle(broker: Broker, call: Call) -> wire.AddPartitionsToTxnResponse:
    """Answer; see the module."""
    request: wire.AddPartitionsToTxnRequest = call.request
    if call.version >= FOR_BROKERS_SINCE:
        return wire.AddPartitionsToTxnResponse(
            throttle_time_ms=0,
            results_by_transaction=[
                wire.AddPartitionsToTxnResult(
                    transactional_id=one.transactional_id,
                    topic_results=_results(one.topics, await _codes(broker, call, one)),
                )
                for one in request.transactions
            ],
        )
    one = wire.AddPartitionsToTxnTransaction(
        transactional_id=request.v3_and_below_transactional_id,
        producer_id=request.v3_and_below_producer_id,
        producer_epoch=request.v3_and_below_producer_epoch,
        topics=request.v3_and_below_topics,
    )
    return wire.AddPartitionsToTxnResponse(
        throttle_time_ms=0,
        results_by_topic_v3_and_below=_results(one.topics, await _codes(broker, call, one)),
    )


async def _codes(broker: Broker, call: Call, one: wire.AddPartitionsToTxnTransaction) -> Codes:
    """What is said of each partition."""
    places = tuple(
        TopicPartition(topic.name, index) for topic in one.topics for index in topic.partitions
    )
    topics = broker.image.topics
    unknown = {
        place
        for place in places
        if place.topic not in topics or place.partition not in topics[place.topic].partitions
    }
    if unknown:
        return {
            place: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            if place in unknown
            else ErrorCode.OPERATION_NOT_ATTEMPTED
            for place in places
        }
    if not one.transactional_id:
        return dict.fromkeys(places, ErrorCode.INVALID_REQUEST)
    producer = ProducerId(one.producer_id, one.producer_epoch)
    if one.verify_only:
        verify = Verify(one.transactional_id, producer, places)
        found = await ask(broker, one.transactional_id, verify, writes=False)
        if not isinstance(found, ErrorCode):
            return dict(zip(places, found, strict=True))
    else:
        client_version = EPOCH_BUMP_VERSION if call.version >= FOR_BROKERS_SINCE else 0
        add = Add(one.transactional_id, producer, places, client_version)
        found = await ask(broker, one.transactional_id, add)
    return dict.fromkeys(places, as_known(found, call.api.name, call.version))


def _results(
    topics: list[wire.AddPartitionsToTxnTopic], codes: Codes
) -> list[wire.AddPartitionsToTxnTopicResult]:
    return [
        wire.AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                wire.AddPartitionsToTxnPartitionResult(
                    partition_index=index,
                    partition_error_code=codes[TopicPartition(topic.name, index)],
                )
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]
