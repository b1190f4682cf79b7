"""Committed offsets: kept, kept with a transaction, told, taken away.

A plain commit holds at once. One of a transaction is pending until the transaction's end, and whoever asks for stable
offsets meanwhile is told to ask again.

Invariants
  I1  A partition whose commit is refused leaves no record; the others of the request do.
  I2  All records of a request are one batch.
  I3  A position that was committed for another topic of the same name is not told to who asks by id.
Not here   who may commit (the kinds of groups), what holds (stored), when it is too old (expiry).
See        KIP-98, KIP-447 (stable offsets), KIP-496 (deleting), KIP-709 (several groups)
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from quire.coordination import KeyValue
from quire.errors import ErrorCode
from quire.groups.keys import (
    NEVER,
    OffsetKey,
    offset_key,
    offset_prefix,
    offset_value,
    partition_suffix,
)
from quire.groups.kinds import Group
from quire.groups.stored import Stored
from quire.groups.stored_values import Committed
from quire.protocol.messages import offset_commit as committing
from quire.protocol.messages import offset_delete as deleting
from quire.protocol.messages import offset_fetch as fetching
from quire.protocol.messages import txn_offset_commit as transacting
from quire.protocol.schema import ZERO_UUID

NO_OFFSET: Final = -1
NO_LEADER_EPOCH: Final = -1
UNWRITTEN: Final = -1
"""Where a position stands in the log before it is there."""


class FetchOffsets(NamedTuple):
    """One group's part of a request for offsets."""

    group: fetching.OffsetFetchRequestGroup
    require_stable: bool = False


# --- commits ----------------------------------------------------------------------------------


def commit(
    request: committing.OffsetCommitRequest, now_ms: int, metadata_bytes_max: int
) -> tuple[list[KeyValue], committing.OffsetCommitResponse]:
    """The records of a commit, and its answer."""
    records: list[KeyValue] = []
    kept_ms = request.retention_time_ms
    expires = NEVER if kept_ms == NEVER else now_ms + kept_ms
    topics = []
    for topic in request.topics:
        prefix = offset_prefix(request.group_id, topic.name)
        answers = []
        for one in topic.partitions:
            code = _commit_one(
                records, prefix, one, (now_ms, expires, topic.topic_id), metadata_bytes_max
            )
            answers.append(
                committing.OffsetCommitResponsePartition(
                    partition_index=one.partition_index, error_code=code
                )
            )
        topics.append(
            committing.OffsetCommitResponseTopic(
                name=topic.name, topic_id=topic.topic_id, partitions=answers
            )
        )
    return records, committing.OffsetCommitResponse(topics=topics)


def commit_in_transaction(
    request: transacting.TxnOffsetCommitRequest, now_ms: int, metadata_bytes_max: int
) -> tuple[list[KeyValue], transacting.TxnOffsetCommitResponse]:
    """The same, for a transaction; its topics are not known by id."""
    records: list[KeyValue] = []
    topics = []
    for topic in request.topics:
        prefix = offset_prefix(request.group_id, topic.name)
        answers = [
            transacting.TxnOffsetCommitResponsePartition(
                partition_index=one.partition_index,
                error_code=_commit_one(
                    records, prefix, one, (now_ms, NEVER, ZERO_UUID), metadata_bytes_max
                ),
            )
            for one in topic.partitions
        ]
        topics.append(transacting.TxnOffsetCommitResponseTopic(name=topic.name, partitions=answers))
    return records, transacting.TxnOffsetCommitResponse(throttle_time_ms=0, topics=topics)


def _commit_one(
    records: list[KeyValue],
    prefix: bytes,
    asked: Any,
    circumstances: tuple[int, int, bytes],
    metadata_bytes_max: int,
) -> ErrorCode:
    """One partition (I1); the circumstances are now, the time of expiry and the topic's id."""
    note = asked.committed_metadata or ""
    if note and len(note) > metadata_bytes_max:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    now_ms, expires, topic_id = circumstances
    value = offset_value(
        Committed(
            asked.committed_offset,
            asked.committed_leader_epoch,
            note,
            now_ms,
            expires,
            topic_id,
            UNWRITTEN,
        )
    )
    records.append(KeyValue(prefix + partition_suffix(asked.partition_index), value))
    return ErrorCode.NONE


def refuse_commit(request: Any, code: ErrorCode) -> Any:
    """The same code for every partition of a commit, plain or transactional."""
    if isinstance(request, committing.OffsetCommitRequest):
        return committing.OffsetCommitResponse(
            topics=[
                committing.OffsetCommitResponseTopic(
                    name=topic.name,
                    topic_id=topic.topic_id,
                    partitions=[
                        committing.OffsetCommitResponsePartition(
                            partition_index=one.partition_index, error_code=code
                        )
                        for one in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )
    return transacting.TxnOffsetCommitResponse(
        throttle_time_ms=0,
        topics=[
            transacting.TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    transacting.TxnOffsetCommitResponsePartition(
                        partition_index=one.partition_index, error_code=code
                    )
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


# --- fetches ----------------------------------------------------------------------------------


def fetch(stored: Stored, asked: FetchOffsets) -> fetching.OffsetFetchResponseGroup:
    """What a group has committed: of the partitions named, or of all."""
    group_id = asked.group.group_id
    if asked.group.topics is None:
        wanted = [
            (name, ZERO_UUID, list(partitions))
            for name, partitions in stored.offsets.get(group_id, {}).items()
        ]
    else:
        wanted = [(one.name, one.topic_id, one.partition_indexes) for one in asked.group.topics]
    open_here = stored.open.get(group_id, {}) if asked.require_stable else {}
    known = stored.offsets.get(group_id, {})
    topics = []
    for name, topic_id, partitions in wanted:
        positions = known.get(name, {})
        answers = []
        for partition in partitions:
            if open_here and OffsetKey(group_id, name, partition) in open_here:
                answers.append(_no_position(partition, ErrorCode.UNSTABLE_OFFSET_COMMIT))
                continue
            answers.append(_position(partition, positions.get(partition), topic_id))
        topics.append(
            fetching.OffsetFetchResponseTopics(name=name, topic_id=topic_id, partitions=answers)
        )
    return fetching.OffsetFetchResponseGroup(group_id=group_id, topics=topics)


def _position(
    partition: int, committed: Committed | None, topic_id: bytes
) -> fetching.OffsetFetchResponsePartitions:
    if committed is None or _is_of_another(committed.topic_id, topic_id):
        return _no_position(partition, ErrorCode.NONE)
    return fetching.OffsetFetchResponsePartitions(
        partition_index=partition,
        committed_offset=committed.offset,
        committed_leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        error_code=ErrorCode.NONE,
    )


def _no_position(partition: int, code: ErrorCode) -> fetching.OffsetFetchResponsePartitions:
    return fetching.OffsetFetchResponsePartitions(
        partition_index=partition,
        committed_offset=NO_OFFSET,
        committed_leader_epoch=NO_LEADER_EPOCH,
        metadata="",
        error_code=code,
    )


def _is_of_another(kept: bytes, asked: bytes) -> bool:
    """I3."""
    return ZERO_UUID not in (kept, asked) and kept != asked


# --- deletions --------------------------------------------------------------------------------


def delete(
    stored: Stored, group: Group, request: deleting.OffsetDeleteRequest
) -> tuple[list[KeyValue], deleting.OffsetDeleteResponse]:
    """Take positions away that no member of the group needs."""
    records: list[KeyValue] = []
    topics = []
    for topic in request.topics:
        needed = group.is_subscribed(topic.name)
        code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if needed else ErrorCode.NONE
        for one in topic.partitions:
            key = OffsetKey(request.group_id, topic.name, one.partition_index)
            if not needed and (stored.committed(key) is not None or stored.has_pending(key)):
                records.append(KeyValue(offset_key(*key), None))
        topics.append(
            deleting.OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=[
                    deleting.OffsetDeleteResponsePartition(
                        partition_index=one.partition_index, error_code=code
                    )
                    for one in topic.partitions
                ],
            )
        )
    response = deleting.OffsetDeleteResponse(
        error_code=ErrorCode.NONE, throttle_time_ms=0, topics=topics
    )
    return records, response


def tombstones(stored: Stored, group_id: str) -> list[KeyValue]:
    """What takes all positions of a group away, pending ones too."""
    keys = {
        OffsetKey(group_id, topic, partition): None
        for topic, partitions in stored.offsets.get(group_id, {}).items()
        for partition in partitions
    }
    keys.update(dict.fromkeys(stored.open.get(group_id, ())))
    return [KeyValue(offset_key(*key), None) for key in keys]


def tombstones_of_topics(stored: Stored, deleted: tuple[str, ...]) -> list[KeyValue]:
    """What takes the positions of all groups in deleted topics away."""
    gone = frozenset(deleted)
    keys: dict[OffsetKey, None] = {}
    for group_id, topics in stored.offsets.items():
        for topic in deleted:
            for partition in topics.get(topic, ()):
                keys[OffsetKey(group_id, topic, partition)] = None
    for open_here in stored.open.values():
        keys.update(dict.fromkeys(key for key in open_here if key.topic in gone))
    return [KeyValue(offset_key(*key), None) for key in keys]
