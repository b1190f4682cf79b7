"""Keys and values of consumer groups in `__consumer_offsets`, as bytes and back.

     3  the group's epoch, and a hash of the topics it reads    6  the target's epoch, and when it was made
     5  a member's wishes                                       7  a member's part of the target
    16  what a pattern meant                                    8  what a member holds
     4  was written by earlier brokers, and is only taken away

Invariants
  I1  What Kafka 4.3 writes of these types is read and written here to the same bytes.
Not here   what they mean (consumer_stored).
See        KIP-848
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from typing import Any, Final

from quire.coordination import KeyValue
from quire.groups.consumer_states import state_of
from quire.groups.consumer_values import (
    NO_PATTERN,
    ClassicSide,
    Held,
    Holding,
    Matched,
    Partitions,
    Wishes,
)
from quire.protocol.compiler import codec
from quire.protocol.messages import consumer_groups as messages

GROUP_EPOCH: Final = 3
PARTITION_METADATA: Final = 4
MEMBER: Final = 5
TARGET_EPOCH: Final = 6
TARGET: Final = 7
CURRENT: Final = 8
PATTERN: Final = 16
KINDS: Final = frozenset(
    {GROUP_EPOCH, PARTITION_METADATA, MEMBER, TARGET_EPOCH, TARGET, CURRENT, PATTERN}
)

_NUMBER: Final = Struct(">h")
_VERSION: Final = _NUMBER.pack(0)


def key_of(kind: int, group_id: str, name: str | None = None) -> bytes:
    """A key: its type, the group, and for some the member or the pattern."""
    parts = [_NUMBER.pack(kind)]
    for text in (group_id,) if name is None else (group_id, name):
        content = text.encode()
        parts += (_NUMBER.pack(len(content)), content)
    return b"".join(parts)


def name_of(key: bytes) -> str:
    """The second field of a key: a member or a pattern."""
    begin = 4 + _NUMBER.unpack_from(key, 2)[0]
    (length,) = _NUMBER.unpack_from(key, begin)
    return str(key[begin + 2 : begin + 2 + length], "utf-8")


def tombstone(kind: int, group_id: str, name: str | None = None) -> KeyValue:
    return KeyValue(key_of(kind, group_id, name), None)


# --- writing ----------------------------------------------------------------------------------


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> KeyValue:
    value = messages.ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)
    return KeyValue(key_of(GROUP_EPOCH, group_id), _encode(value))


def member_record(group_id: str, wishes: Wishes) -> KeyValue:
    classic = wishes.classic
    value = messages.ConsumerGroupMemberMetadataValue(
        instance_id=wishes.instance_id,
        rack_id=wishes.rack_id,
        client_id=wishes.client_id,
        client_host=wishes.client_host,
        subscribed_topic_names=list(wishes.topics),
        subscribed_topic_regex=wishes.pattern,
        rebalance_timeout_ms=wishes.rebalance_timeout_ms,
        server_assignor=wishes.assignor,
        classic_member_metadata=None
        if classic is None
        else messages.ClassicMemberMetadata(
            session_timeout_ms=classic.session_timeout_ms,
            supported_protocols=[
                messages.ClassicProtocol(name=name, metadata=metadata)
                for name, metadata in classic.protocols
            ],
        ),
    )
    return KeyValue(key_of(MEMBER, group_id, wishes.member_id), _encode(value))


def target_epoch_record(group_id: str, epoch: int, timestamp: int) -> KeyValue:
    value = messages.ConsumerGroupTargetAssignmentMetadataValue(
        assignment_epoch=epoch, assignment_timestamp=timestamp
    )
    return KeyValue(key_of(TARGET_EPOCH, group_id), _encode(value))


def target_record(group_id: str, member_id: str, target: Partitions) -> KeyValue:
    value = messages.ConsumerGroupTargetAssignmentMemberValue(
        topic_partitions=[
            messages.TopicPartition(topic_id=topic_id, partitions=list(partitions))
            for topic_id, partitions in target.items()
        ]
    )
    return KeyValue(key_of(TARGET, group_id, member_id), _encode(value))


def current_record(group_id: str, member_id: str, holding: Holding) -> KeyValue:
    value = messages.ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=holding.epoch,
        previous_member_epoch=holding.previous_epoch,
        state=holding.state,
        assigned_partitions=_written(holding.assigned),
        partitions_pending_revocation=_written(holding.revoking),
    )
    return KeyValue(key_of(CURRENT, group_id, member_id), _encode(value))


def pattern_record(group_id: str, pattern: str, matched: Matched) -> KeyValue:
    value = messages.ConsumerGroupRegularExpressionValue(
        topics=list(matched.topics), version=matched.image_offset, timestamp=matched.timestamp
    )
    return KeyValue(key_of(PATTERN, group_id, pattern), _encode(value))


# --- reading ----------------------------------------------------------------------------------


def read_epoch(value: bytes) -> tuple[int, int]:
    """The group's epoch and the hash."""
    found = _decode(messages.ConsumerGroupMetadataValue, value)
    return found.epoch, found.metadata_hash


def read_member(member_id: str, value: bytes) -> Wishes:
    found = _decode(messages.ConsumerGroupMemberMetadataValue, value)
    classic = found.classic_member_metadata
    return Wishes(
        member_id,
        found.instance_id,
        found.rack_id,
        found.client_id,
        found.client_host,
        tuple(sorted(found.subscribed_topic_names)),
        found.subscribed_topic_regex or NO_PATTERN,
        found.rebalance_timeout_ms,
        found.server_assignor,
        None
        if classic is None
        else ClassicSide(
            classic.session_timeout_ms,
            tuple((one.name, bytes(one.metadata)) for one in classic.supported_protocols),
        ),
    )


def read_target_epoch(value: bytes) -> tuple[int, int]:
    """The epoch of the target and when it was made."""
    found = _decode(messages.ConsumerGroupTargetAssignmentMetadataValue, value)
    return found.assignment_epoch, found.assignment_timestamp


def read_target(value: bytes) -> Partitions:
    found = _decode(messages.ConsumerGroupTargetAssignmentMemberValue, value)
    return {one.topic_id: tuple(sorted(one.partitions)) for one in found.topic_partitions}


def read_current(value: bytes) -> Holding:
    found = _decode(messages.ConsumerGroupCurrentMemberAssignmentValue, value)
    return Holding(
        found.member_epoch,
        found.previous_member_epoch,
        state_of(found.state),
        _read(found.assigned_partitions),
        _read(found.partitions_pending_revocation),
    )


def read_pattern(value: bytes) -> Matched:
    found = _decode(messages.ConsumerGroupRegularExpressionValue, value)
    return Matched(tuple(found.topics), found.version, found.timestamp)


def _written(held: Held) -> list[messages.TopicPartitions]:
    return [
        messages.TopicPartitions(
            topic_id=topic_id,
            partitions=list(partitions),
            assignment_epochs=list(partitions.values()),
        )
        for topic_id, partitions in held.items()
    ]


def _read(topics: Any) -> Held:
    """An earlier broker wrote no epochs: 0 stands for them."""
    found: dict[bytes, Mapping[int, int]] = {}
    for one in topics:
        epochs = one.assignment_epochs or [0] * len(one.partitions)
        found[one.topic_id] = dict(sorted(zip(one.partitions, epochs, strict=True)))
    return found


def _encode(message: Any) -> bytes:
    return _VERSION + codec(type(message), 0).encode(message)


def _decode(kind: type, value: bytes) -> Any:
    (version,) = _NUMBER.unpack_from(value)
    return codec(kind, version).decode(value, 2)[0]
