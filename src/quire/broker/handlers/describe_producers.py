"""DescribeProducers: who writes to a partition, as its log knows them; followers answer, too.

Not here   what a log knows of producers (storage.producer_state), transactions as their coordinator sees them.
See        KIP-664
"""

from __future__ import annotations

from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.errors import ErrorCode
from quire.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from quire.storage.directory_names import is_topic_name
from quire.storage.producer_state import Producer

API: Final = 61


def handle(broker: Broker, call: Call) -> DescribeProducersResponse:
    """Answer; see the module."""
    request: DescribeProducersRequest = call.request
    return DescribeProducersResponse(
        throttle_time_ms=0,
        topics=[
            TopicResponse(
                name=topic.name,
                partitions=[_producers(broker, topic.name, one) for one in topic.partition_indexes],
            )
            for topic in request.topics
        ],
    )


def _producers(broker: Broker, topic: str, index: int) -> PartitionResponse:
    replica = broker.replicas.get(topic, index)
    if replica is not None:
        return PartitionResponse(
            partition_index=index,
            error_code=ErrorCode.NONE,
            active_producers=[_described(one) for one in replica.log.producers],
        )
    code, text = broker.replicas.why_not(topic, index), None
    if not is_topic_name(topic):
        code = ErrorCode.INVALID_TOPIC_EXCEPTION
        text = f"{topic!r} is not a topic's name"
    elif topic not in broker.image.topics:
        text = f"there is no topic {topic}"
    broker.metrics.failed(API, code)
    return PartitionResponse(
        partition_index=index, error_code=code, error_message=text, active_producers=[]
    )


def _described(producer: Producer) -> ProducerState:
    return ProducerState(
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        last_sequence=producer.last_sequence,
        last_timestamp=producer.last_timestamp,
        coordinator_epoch=producer.coordinator_epoch,
        current_txn_start_offset=producer.transaction_first_offset,
    )
