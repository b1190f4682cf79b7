"""WriteTxnMarkers (key 27)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int8, Int16, Int32, Int64, field, message, structure


@structure
class WritableTxnMarkerTopic:
    name: str
    partition_indexes: list[Int32]


@structure
class WritableTxnMarker:
    producer_id: Int64
    producer_epoch: Int16
    transaction_result: Bool
    topics: list[WritableTxnMarkerTopic]
    coordinator_epoch: Int32
    transaction_version: Int8 = field(since=2, default=0, ignorable=True)


@message(key=27, versions=(1, 2), flexible=1)
class WriteTxnMarkersRequest:
    """Write the outcome into the partitions. v2 transaction version (KIP-1228)."""

    markers: list[WritableTxnMarker]


@structure
class WritableTxnMarkerPartitionResult:
    partition_index: Int32
    error_code: Int16


@structure
class WritableTxnMarkerTopicResult:
    name: str
    partitions: list[WritableTxnMarkerPartitionResult]


@structure
class WritableTxnMarkerResult:
    producer_id: Int64
    topics: list[WritableTxnMarkerTopicResult]


@message(key=27, versions=(1, 2), flexible=1)
class WriteTxnMarkersResponse:
    """An error code for each marker and partition."""

    markers: list[WritableTxnMarkerResult]
