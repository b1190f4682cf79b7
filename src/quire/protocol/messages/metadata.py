"""Metadata (key 3)."""

from __future__ import annotations

from quire.protocol.schema import ZERO_UUID, Bool, Int16, Int32, Uuid, field, message, structure


@structure
class MetadataRequestTopic:
    topic_id: Uuid = field(since=10, default=ZERO_UUID, ignorable=True)
    name: str | None = field(nullable_since=10)


@message(key=3, versions=(0, 13), flexible=9)
class MetadataRequest:
    """Who leads what. v1 null asks for all · v4 auto creation · v8 permitted operations
    (KIP-430) · v10 topic ids · v12 by id.
    """

    topics: list[MetadataRequestTopic] | None = field(nullable_since=1)
    allow_auto_topic_creation: Bool = field(since=4, default=True)
    include_cluster_authorized_operations: Bool = field(since=8, until=10, default=False)
    include_topic_authorized_operations: Bool = field(since=8, default=False)


@structure
class MetadataResponseBroker:
    node_id: Int32
    host: str
    port: Int32
    rack: str | None = field(since=1, default=None, ignorable=True)


@structure
class MetadataResponsePartition:
    error_code: Int16
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32 = field(since=7, default=-1, ignorable=True)
    replica_nodes: list[Int32]
    isr_nodes: list[Int32]
    offline_replicas: list[Int32] = field(since=5, default=[], ignorable=True)


@structure
class MetadataResponseTopic:
    error_code: Int16
    name: str | None = field(nullable_since=12)
    topic_id: Uuid = field(since=10, default=ZERO_UUID, ignorable=True)
    is_internal: Bool = field(since=1, default=False, ignorable=True)
    partitions: list[MetadataResponsePartition]
    topic_authorized_operations: Int32 = field(since=8, default=-2147483648)


@message(key=3, versions=(0, 13), flexible=9)
class MetadataResponse:
    """Brokers, topics, partitions and leaders. v2 cluster id · v5 offline replicas · v7 leader
    epoch · v10 topic ids · v13 top-level error (KIP-1102).
    """

    throttle_time_ms: Int32 = field(since=3, default=0, ignorable=True)
    brokers: list[MetadataResponseBroker]
    cluster_id: str | None = field(since=2, default=None, ignorable=True)
    controller_id: Int32 = field(since=1, default=-1, ignorable=True)
    topics: list[MetadataResponseTopic]
    cluster_authorized_operations: Int32 = field(since=8, until=10, default=-2147483648)
    error_code: Int16 = field(since=13, default=0, ignorable=True)
