"""Keys and values of `__consumer_offsets` as bytes, and back; byte for byte those of Apache Kafka 4.3.

A key is the number of its type, then its fields; every type's first field is the group. A value is its version, then
its fields.

    OffsetCommitValue    4, or 1 where an older client said how long to keep the offset
    GroupMetadataValue   3

Invariants
  I1  What Kafka 4.3 writes of these types is read and written here to the same bytes.
Not here   what the records of other kinds of groups say (foreign keeps their keys).
See        docs/formats/consumer-offsets.md, KIP-211 (expiry), KIP-516 (topic ids)
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import Final, NamedTuple

from quire.coordination import KeyValue
from quire.groups.stored_values import Committed, StoredGroup, StoredMember
from quire.protocol.compiler import codec
from quire.protocol.messages.consumer_offsets import (
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitValue,
)
from quire.protocol.schema import ZERO_UUID

LEGACY_OFFSET: Final = 0
OFFSET: Final = 1
CLASSIC_GROUP: Final = 2

OFFSET_VERSION: Final = 4
OFFSET_VERSION_EXPIRING: Final = 1
GROUP_VERSION: Final = 3
NEVER: Final = -1
"""No time of expiry of its own."""

_TYPE: Final = Struct(">h")
_LENGTH: Final = Struct(">h")
_NUMBER: Final = Struct(">i")
_OFFSET_HEAD: Final = Struct(">hqi")
_OFFSET_TAIL: Final = Struct(">q")
_NO_TAGS: Final = b"\x00"
_TOPIC_ID_TAG: Final = b"\x01\x00\x10"
"""One tagged field: number 0, 16 bytes."""
_WITHOUT_ID: Final = 8 + 1
_WITH_ID: Final = 8 + 3 + 16
"""What is left of a value behind its text."""
_SHORT: Final = 0x7F
"""Compact lengths up to here are one byte."""


class OffsetKey(NamedTuple):
    """Which position of which group."""

    group_id: str
    topic: str
    partition: int


def type_of(key: bytes) -> int:
    """The number of a key's type."""
    number: int = _TYPE.unpack_from(key)[0]
    return number


def group_of(key: bytes) -> str:
    """The group that any key belongs to."""
    (length,) = _LENGTH.unpack_from(key, 2)
    return str(key[4 : 4 + length], "utf-8")


def offset_prefix(group_id: str, topic: str) -> bytes:
    """The key of a topic's positions but for the partition."""
    group, name = group_id.encode(), topic.encode()
    return b"".join(
        (_TYPE.pack(OFFSET), _LENGTH.pack(len(group)), group, _LENGTH.pack(len(name)), name)
    )


def partition_suffix(partition: int) -> bytes:
    """What follows `offset_prefix`."""
    return _NUMBER.pack(partition)


def offset_key(group_id: str, topic: str, partition: int) -> bytes:
    return offset_prefix(group_id, topic) + _NUMBER.pack(partition)


def read_offset_key(key: bytes) -> OffsetKey:
    (length,) = _LENGTH.unpack_from(key, 2)
    end = 4 + length
    group = str(key[4:end], "utf-8")
    (length,) = _LENGTH.unpack_from(key, end)
    begin, end = end + 2, end + 2 + length
    return OffsetKey(group, str(key[begin:end], "utf-8"), _NUMBER.unpack_from(key, end)[0])


def offset_value(committed: Committed) -> bytes:
    """The value of a position."""
    if committed.expire_timestamp != NEVER:
        return _expiring(committed)
    note = committed.metadata.encode()
    size = len(note) + 1
    if size > _SHORT:
        return _at_length(committed)
    topic_id = committed.topic_id
    return b"".join(
        (
            _OFFSET_HEAD.pack(OFFSET_VERSION, committed.offset, committed.leader_epoch),
            bytes((size,)),
            note,
            _OFFSET_TAIL.pack(committed.commit_timestamp),
            _NO_TAGS if topic_id == ZERO_UUID else _TOPIC_ID_TAG + topic_id,
        )
    )


def _at_length(committed: Committed) -> bytes:
    value = OffsetCommitValue(
        offset=committed.offset,
        leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        commit_timestamp=committed.commit_timestamp,
        topic_id=committed.topic_id,
    )
    return _TYPE.pack(OFFSET_VERSION) + codec(OffsetCommitValue, OFFSET_VERSION).encode(value)


def _expiring(committed: Committed) -> bytes:
    version = OFFSET_VERSION_EXPIRING
    value = OffsetCommitValue(
        offset=committed.offset,
        metadata=committed.metadata,
        commit_timestamp=committed.commit_timestamp,
        expire_timestamp=committed.expire_timestamp,
    )
    return _TYPE.pack(version) + codec(OffsetCommitValue, version).encode(value)


def read_offset_value(value: bytes, record_offset: int) -> Committed:
    """A position from any version of its value."""
    (version,) = _TYPE.unpack_from(value)
    if version == OFFSET_VERSION and value[14] <= _SHORT:  # the common case, without an object
        _, offset, leader_epoch = _OFFSET_HEAD.unpack_from(value)
        end = 14 + value[14]
        left = len(value) - end
        has_id = left == _WITH_ID and value[end + 8 : end + 11] == _TOPIC_ID_TAG
        if has_id or left == _WITHOUT_ID:
            note = str(value[15:end], "utf-8")
            (timestamp,) = _OFFSET_TAIL.unpack_from(value, end)
            topic_id = bytes(value[end + 11 :]) if has_id else ZERO_UUID
            return Committed(offset, leader_epoch, note, timestamp, NEVER, topic_id, record_offset)
    found = codec(OffsetCommitValue, version).decode(value, 2)[0]
    return Committed(
        found.offset,
        found.leader_epoch,
        found.metadata,
        found.commit_timestamp,
        found.expire_timestamp,
        found.topic_id,
        record_offset,
    )


def group_key(group_id: str) -> bytes:
    group = group_id.encode()
    return b"".join((_TYPE.pack(CLASSIC_GROUP), _LENGTH.pack(len(group)), group))


def group_record(group_id: str, group: StoredGroup) -> KeyValue:
    """A classic group as it is written."""
    value = GroupMetadataValue(
        protocol_type=group.protocol_type,
        generation=group.generation,
        protocol=group.protocol,
        leader=group.leader,
        current_state_timestamp=group.state_timestamp,
        members=[
            MemberMetadata(
                member_id=one.member_id,
                group_instance_id=one.instance_id,
                client_id=one.client_id,
                client_host=one.client_host,
                rebalance_timeout=one.rebalance_timeout_ms,
                session_timeout=one.session_timeout_ms,
                subscription=one.subscription,
                assignment=one.assignment,
            )
            for one in group.members
        ],
    )
    encoded = codec(GroupMetadataValue, GROUP_VERSION).encode(value)
    return KeyValue(group_key(group_id), _TYPE.pack(GROUP_VERSION) + encoded)


def read_group_value(value: bytes) -> StoredGroup:
    """A classic group from any version of its value."""
    (version,) = _TYPE.unpack_from(value)
    found = codec(GroupMetadataValue, version).decode(value, 2)[0]
    return StoredGroup(
        found.protocol_type,
        found.generation,
        found.protocol,
        found.leader,
        found.current_state_timestamp,
        tuple(_members(found.members)),
    )


def _members(members: Iterable[MemberMetadata]) -> Iterable[StoredMember]:
    for one in members:
        rebalance_ms = one.rebalance_timeout
        yield StoredMember(
            one.member_id,
            one.group_instance_id,
            one.client_id,
            one.client_host,
            one.session_timeout if rebalance_ms == -1 else rebalance_ms,
            one.session_timeout,
            bytes(one.subscription),
            bytes(one.assignment),
        )
