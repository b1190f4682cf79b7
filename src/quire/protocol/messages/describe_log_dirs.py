"""DescribeLogDirs (key 35)."""

from __future__ import annotations

from quire.protocol.schema import Bool, Int16, Int32, Int64, field, message, structure


@structure
class DescribableLogDirTopic:
    topic: str
    partitions: list[Int32]


@message(key=35, versions=(1, 5), flexible=2)
class DescribeLogDirsRequest:
    """What lies in the log directories (KIP-113)."""

    topics: list[DescribableLogDirTopic] | None


@structure
class DescribeLogDirsPartition:
    partition_index: Int32
    partition_size: Int64
    offset_lag: Int64
    is_future_key: Bool


@structure
class DescribeLogDirsTopic:
    name: str
    partitions: list[DescribeLogDirsPartition]


@structure
class DescribeLogDirsResult:
    error_code: Int16
    log_dir: str
    topics: list[DescribeLogDirsTopic]
    total_bytes: Int64 = field(since=4, default=-1, ignorable=True)
    usable_bytes: Int64 = field(since=4, default=-1, ignorable=True)
    is_cordoned: Bool = field(since=5, default=False, ignorable=True)


@message(key=35, versions=(1, 5), flexible=2)
class DescribeLogDirsResponse:
    """Sizes and lags by directory. v4 volume sizes (KIP-827) · v5 cordoned (KIP-1066)."""

    throttle_time_ms: Int32
    error_code: Int16 = field(since=3, default=0, ignorable=True)
    results: list[DescribeLogDirsResult]
