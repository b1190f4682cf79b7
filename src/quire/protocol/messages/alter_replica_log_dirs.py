"""AlterReplicaLogDirs (key 34)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, message, structure


@structure
class AlterReplicaLogDirTopic:
    name: str
    partitions: list[Int32]


@structure
class AlterReplicaLogDir:
    path: str
    topics: list[AlterReplicaLogDirTopic]


@message(key=34, versions=(1, 2), flexible=2)
class AlterReplicaLogDirsRequest:
    """Move replicas between log directories of a broker (KIP-113)."""

    dirs: list[AlterReplicaLogDir]


@structure
class AlterReplicaLogDirPartitionResult:
    partition_index: Int32
    error_code: Int16


@structure
class AlterReplicaLogDirTopicResult:
    topic_name: str
    partitions: list[AlterReplicaLogDirPartitionResult]


@message(key=34, versions=(1, 2), flexible=2)
class AlterReplicaLogDirsResponse:
    """An error code for each replica."""

    throttle_time_ms: Int32
    results: list[AlterReplicaLogDirTopicResult]
