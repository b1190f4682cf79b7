"""AssignReplicasToDirs (key 73)."""

from __future__ import annotations

from quire.protocol.schema import Int16, Int32, Int64, Uuid, field, message, structure


@structure
class AssignReplicasToDirsRequestPartitionData:
    partition_index: Int32


@structure
class AssignReplicasToDirsRequestTopicData:
    topic_id: Uuid
    partitions: list[AssignReplicasToDirsRequestPartitionData]


@structure
class AssignReplicasToDirsRequestDirectoryData:
    id: Uuid
    topics: list[AssignReplicasToDirsRequestTopicData]


@message(key=73, versions=(0, 0), flexible=0)
class AssignReplicasToDirsRequest:
    """A broker tells which directory holds which replica (KIP-858)."""

    broker_id: Int32
    broker_epoch: Int64 = field(default=-1)
    directories: list[AssignReplicasToDirsRequestDirectoryData]


@structure
class AssignReplicasToDirsResponsePartitionData:
    partition_index: Int32
    error_code: Int16


@structure
class AssignReplicasToDirsResponseTopicData:
    topic_id: Uuid
    partitions: list[AssignReplicasToDirsResponsePartitionData]


@structure
class AssignReplicasToDirsResponseDirectoryData:
    id: Uuid
    topics: list[AssignReplicasToDirsResponseTopicData]


@message(key=73, versions=(0, 0), flexible=0)
class AssignReplicasToDirsResponse:
    """What became of each replica."""

    throttle_time_ms: Int32
    error_code: Int16
    directories: list[AssignReplicasToDirsResponseDirectoryData]
