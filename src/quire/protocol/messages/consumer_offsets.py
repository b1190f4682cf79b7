"""Keys and values of committed offsets and classic groups in `__consumer_offsets`."""

from __future__ import annotations

from quire.protocol.schema import NEVER, ZERO_UUID, Int32, Int64, Uuid, field, message, structure


@message(key=0, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class LegacyOffsetCommitKey:
    """Key of a group's position, first form."""

    group: str
    topic: str
    partition: Int32


@message(key=0, kind="coordinator-value", versions=(0, 0), flexible=NEVER)
class LegacyOffsetCommitValue:
    """A group's position, first form."""

    offset: Int64
    metadata: str
    commit_timestamp: Int64


@message(key=1, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class OffsetCommitKey:
    """Key of a group's position."""

    group: str
    topic: str
    partition: Int32


@message(key=1, kind="coordinator-value", versions=(0, 4), flexible=4)
class OffsetCommitValue:
    """A group's position in a partition. v3 leader epoch · v4 topic id in a tag."""

    offset: Int64
    leader_epoch: Int32 = field(since=3, default=-1, ignorable=True)
    metadata: str
    commit_timestamp: Int64
    expire_timestamp: Int64 = field(since=1, until=1, default=-1, ignorable=True)
    topic_id: Uuid = field(since=4, tag=0, default=ZERO_UUID, ignorable=True)


@message(key=2, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class GroupMetadataKey:
    """Key of a classic group."""

    group: str


@structure
class MemberMetadata:
    member_id: str
    group_instance_id: str | None = field(since=3, default=None, ignorable=True)
    client_id: str
    client_host: str
    rebalance_timeout: Int32 = field(since=1, default=-1, ignorable=True)
    session_timeout: Int32
    subscription: bytes
    assignment: bytes


@message(key=2, kind="coordinator-value", versions=(0, 4), flexible=4)
class GroupMetadataValue:
    """A classic group as a whole. v2 time of its state · v3 static members."""

    protocol_type: str
    generation: Int32
    protocol: str | None
    leader: str | None
    current_state_timestamp: Int64 = field(since=2, default=-1, ignorable=True)
    members: list[MemberMetadata]
