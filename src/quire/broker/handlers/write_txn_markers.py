"""WriteTxnMarkers: a coordinator elsewhere has decided how transactions end; write that into our partitions.

Answered when the markers are on all replicas. The request may be repeated: a marker that is there twice does no harm.

Versions   2 says by which rules epochs are judged
Not here   checks and appends (markers), coordinators of this broker, who do not ask this way.
See        KIP-98, KIP-1228
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.markers import Marker, write
from quire.protocol.messages import write_txn_markers as wire
from quire.types import TopicPartition


async def handle(broker: Broker, call: Call) -> wire.WriteTxnMarkersResponse:
    """Answer; see the module."""
    request: wire.WriteTxnMarkersRequest = call.request
    wanted = [
        (_marker(one), TopicPartition(topic.name, index))
        for one in request.markers
        for topic in one.topics
        for index in topic.partition_indexes
    ]
    codes = iter(await write(broker, wanted, timeout_ms=broker.layers.settings.request_timeout_ms))
    return wire.WriteTxnMarkersResponse(
        markers=[
            wire.WritableTxnMarkerResult(
                producer_id=one.producer_id,
                topics=[
                    wire.WritableTxnMarkerTopicResult(
                        name=topic.name,
                        partitions=[
                            wire.WritableTxnMarkerPartitionResult(
                                partition_index=index, error_code=next(codes)
                            )
                            for index in topic.partition_indexes
                        ],
                    )
                    for topic in one.topics
                ],
            )
            for one in request.markers
        ]
    )


def _marker(one: wire.WritableTxnMarker) -> Marker:
    return Marker(
        one.producer_id,
        one.producer_epoch,
        committed=one.transaction_result,
        coordinator_epoch=one.coordinator_epoch,
        transaction_version=one.transaction_version,
    )
