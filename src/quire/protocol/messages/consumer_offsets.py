"""Keys and values of committed offsets and classic groups in `__consumer_offsets`."""

from __future__ import annotations

from quire.protocol.schema import NEVER, ZERO_UUID, Int32, Int64, Uuid, field, message, structure


@message(key=0, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class LegacyOffsetCommitKey:
    """Key of a group's position, first form."""

    group: str = field(wire="group")
    topic: str = field(wire="topic")
    partition: Int32 = field(wire="partition")


@message(key=0, kind="coordinator-value", versions=(0, 0), flexible=NEVER)
class LegacyOffsetCommitValue:
    """A group's position, first form."""

    offset: Int64 = field(wire="offset")
    metadata: str = field(wire="metadata")
    commit_timestamp: Int64 = field(wire="commitTimestamp")


@message(key=1, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class OffsetCommitKey:
    """Key of a group's position."""

    group: str = field(wire="group")
    topic: str = field(wire="topic")
    partition: Int32 = field(wire="partition")


@message(key=1, kind="coordinator-value", versions=(0, 4), flexible=4)
class OffsetCommitValue:
    """A group's position in a partition. v3 leader epoch · v4 topic id in a tag."""

    offset: Int64 = field(wire="offset")
    leader_epoch: Int32 = field(since=3, default=-1, ignorable=True, wire="leaderEpoch")
    metadata: str = field(wire="metadata")
    commit_timestamp: Int64 = field(wire="commitTimestamp")
    expire_timestamp: Int64 = field(
        since=1, until=1, default=-1, ignorable=True, wire="expireTimestamp"
    )
    topic_id: Uuid = field(since=4, tag=0, default=ZERO_UUID, ignorable=True, wire="topicId")


@message(key=2, kind="coordinator-key", versions=(0, 0), flexible=NEVER)
class GroupMetadataKey:
    """Key of a classic group."""

    group: str = field(wire="group")


@structure
class MemberMetadata:
    member_id: str = field(wire="memberId")
    group_instance_id: str | None = field(
        since=3, default=None, ignorable=True, wire="groupInstanceId"
    )
    client_id: str = field(wire="clientId")
    client_host: str = field(wire="clientHost")
    rebalance_timeout: Int32 = field(since=1, default=-1, ignorable=True, wire="rebalanceTimeout")
    session_timeout: Int32 = field(wire="sessionTimeout")
    subscription: bytes = field(wire="subscription")
    assignment: bytes = field(wire="assignment")


@message(key=2, kind="coordinator-value", versions=(0, 4), flexible=4)
class GroupMetadataValue:
    """A classic group as a whole. v2 time of its state · v3 static members."""

    protocol_type: str = field(wire="protocolType")
    generation: Int32 = field(wire="generation")
    protocol: str | None = field(wire="protocol")
    leader: str | None = field(wire="leader")
    current_state_timestamp: Int64 = field(
        since=2, default=-1, ignorable=True, wire="currentStateTimestamp"
    )
    members: list[MemberMetadata] = field(wire="members")
