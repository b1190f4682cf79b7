"""AlterReplicaLogDirs: let replicas of this broker go to other directories of it.

The answer says that a move has begun; DescribeLogDirs shows how far it is. A replica that is sent where it is stays
there, and a move that it was on ends. Of a replica that is not here yet it is remembered where it is wanted.

Versions   2 flexible
Not here   the move (broker.moves).
See        KIP-113, KIP-858, KIP-1066 (cordoned directories)
"""

from __future__ import annotations

from typing import Final

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.errors import ErrorCode
from quire.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from quire.storage.directory_names import Stage, staged_name
from quire.types import TopicPartition

API: Final = 34
NAME_LENGTH_MAX: Final = 255
_ANY_UNIQUE: Final = bytes(16)


def handle(broker: Broker, call: Call) -> AlterReplicaLogDirsResponse:
    """Answer; see the module."""
    request: AlterReplicaLogDirsRequest = call.request
    wanted = {
        TopicPartition(topic.name, index): one.path
        for one in request.dirs
        for topic in one.topics
        for index in topic.partitions
    }
    results: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for key, path in wanted.items():
        code = _begin(broker, key, path)
        if code is not ErrorCode.NONE:
            broker.metrics.failed(API, code)
        results.setdefault(key.topic, []).append(
            AlterReplicaLogDirPartitionResult(partition_index=key.partition, error_code=code)
        )
    return AlterReplicaLogDirsResponse(
        throttle_time_ms=0,
        results=[
            AlterReplicaLogDirTopicResult(topic_name=name, partitions=found)
            for name, found in results.items()
        ],
    )


def _begin(broker: Broker, key: TopicPartition, path: str) -> ErrorCode:
    if not _fits(key):
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    to = next((each for each in broker.log_dirs.log_dirs if each.path == path), None)
    if to is None:
        return ErrorCode.LOG_DIR_NOT_FOUND
    if to.failure is not None:
        return ErrorCode.KAFKA_STORAGE_ERROR
    if broker.layers.settings.is_cordoned(path):
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT
    replica = broker.replicas.get(*key)
    if replica is None:
        code = broker.replicas.why_not(*key)
        if code is ErrorCode.NOT_LEADER_OR_FOLLOWER:
            broker.replicas.moves.prefer(key, to)
            return ErrorCode.REPLICA_NOT_AVAILABLE
        return code
    broker.replicas.moves.begin(replica, to)
    return ErrorCode.NONE


def _fits(key: TopicPartition) -> bool:
    """Whether the whole name of the copy's directory is one that file systems take."""
    suffix = len(staged_name(TopicPartition("", key.partition), Stage.FUTURE, _ANY_UNIQUE))
    return len(key.topic) + suffix <= NAME_LENGTH_MAX
