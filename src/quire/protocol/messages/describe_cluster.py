"""DescribeCluster (key 60)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int8, Int16, Int32, field, message, structure


@message(key=60, versions=(0, 2), flexible=0)
class DescribeClusterRequest:
    """Cluster id and nodes (KIP-700). v1 endpoint type (KIP-919) · v2 fenced brokers (KIP-1073)."""

    include_cluster_authorized_operations: Bool
    endpoint_type: Int8 = field(since=1, default=1)
    include_fenced_brokers: Bool = field(since=2, default=False)


@structure
class DescribeClusterBroker:
    broker_id: Int32
    host: str
    port: Int32
    rack: str | None = field(default=None)
    is_fenced: Bool = field(since=2, default=False)


@message(key=60, versions=(0, 2), flexible=0)
class DescribeClusterResponse:
    """The nodes, of the kind asked for. v1 endpoint type · v2 fenced flag."""

    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None = field(default=None)
    endpoint_type: Int8 = field(since=1, default=1)
    cluster_id: str
    controller_id: Int32 = field(default=-1)
    brokers: list[DescribeClusterBroker]
    cluster_authorized_operations: Int32 = field(default=-2147483648)
