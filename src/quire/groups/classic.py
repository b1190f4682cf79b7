"""Soft state of one classic group: its members, what they vote for, who waits for what.

It is made of what is stored, or new; steps change it. What of it outlives a broker is what they write.

Invariants
  I1  `supported` counts, for each protocol, the members that speak it; `waiting` counts those that wait to join.
  I2  The leader is a member; each static id belongs to one member; who is expected (a member id was given out, no
      member yet) is not a member.
  I3  Only a state's followers in the table may follow it.
  I4  In COMPLETING_REBALANCE and STABLE there is a protocol, and every member speaks it.
Not here   how it comes from one generation to the next (rebalance), bytes (keys).
See        KIP-62, KIP-345 (static members), KIP-394 (member ids first)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from quire.coordination import KeyValue, Ticket
from quire.errors import ErrorCode, ProtocolError
from quire.groups.keys import group_key, group_record
from quire.groups.kinds import NO_MEMBER, Claim, GroupType
from quire.groups.states import (
    COMPLETING,
    DEAD,
    EMPTY,
    NEXT,
    PREPARING,
    STABLE,
    GroupState,
)
from quire.groups.stored_values import Committed, StoredGroup, StoredMember
from quire.protocol.compiler import codec
from quire.protocol.messages.consumer_protocol import ConsumerProtocolSubscription
from quire.protocol.messages.join_group import JoinGroupResponseMember

CONSUMER_PROTOCOL: Final = "consumer"
"""The protocol type whose members tell what they subscribe to."""
NO_TIMESTAMP: Final = -1

Protocols = tuple[tuple[str, bytes], ...]
"""Names and what the member says in each, the one it likes best first."""


class Member:
    """One member, and what it waits for."""

    __slots__ = (
        "armed_ms",
        "assignment",
        "client_host",
        "client_id",
        "deadline_ms",
        "instance_id",
        "is_new",
        "joining",
        "member_id",
        "protocols",
        "rebalance_timeout_ms",
        "session_timeout_ms",
        "syncing",
    )

    def __init__(
        self,
        member_id: str,
        *,
        instance_id: str | None,
        client: tuple[str, str],
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
        protocols: Protocols,
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.client_id, self.client_host = client
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.session_timeout_ms = session_timeout_ms
        self.protocols = protocols
        self.assignment = b""
        self.is_new = False
        """It joins for the first time, and cannot send heartbeats before it has joined."""
        self.joining: Ticket | None = None
        self.syncing: Ticket | None = None
        self.deadline_ms = 0
        """When its session ends, by the monotonic clock."""
        self.armed_ms: int | None = None
        """When its timer rings; not later than the deadline."""

    def metadata(self, protocol: str | None) -> bytes:
        """What it says in a protocol."""
        for name, metadata in self.protocols:
            if name == protocol:
                return metadata
        return b""


class ClassicGroup:
    """See the module."""

    group_type = GroupType.CLASSIC

    def __init__(self, group_id: str, now_ms: int) -> None:
        self.group_id = group_id
        self.state = EMPTY
        self.came_from = EMPTY
        """The state before this one."""
        self.state_timestamp = now_ms
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members: dict[str, Member] = {}
        self.instances: dict[str, str] = {}
        """The member ids of static members."""
        self.expected: dict[str, None] = {}
        """Member ids that were given out, whose owners have not joined yet."""
        self.unsynced: dict[str, None] = {}
        """Who has joined this generation, and not asked for an assignment yet."""
        self.supported: dict[str, int] = {}
        self.waiting = 0
        self.has_newcomers = False
        """Somebody came while the first rebalance was delayed."""
        self.delay_ms = 0
        self.delay_left_ms = 0
        """How long the first rebalance may still be delayed."""
        self._changes = 0
        self._subscribed: tuple[int, str | None, dict[str, None] | None] = (-1, None, None)
        """The topics that members read, with the changes and the protocol that they were found at."""

    @classmethod
    def of(cls, group_id: str, stored: StoredGroup) -> ClassicGroup:
        """As it was written."""
        group = cls(group_id, stored.state_timestamp)
        group.generation = stored.generation
        group.protocol_type = stored.protocol_type or None
        for one in stored.members:
            member = Member(
                one.member_id,
                instance_id=one.instance_id,
                client=(one.client_id, one.client_host),
                rebalance_timeout_ms=one.rebalance_timeout_ms,
                session_timeout_ms=one.session_timeout_ms,
                protocols=((stored.protocol or "", one.subscription),),
            )
            member.assignment = one.assignment
            group.add(member)
        group.protocol = stored.protocol
        group.leader = stored.leader
        group.state = STABLE if group.members else EMPTY
        return group

    def record(self) -> KeyValue:
        """How it is written now."""
        protocol = self.protocol
        members = tuple(
            StoredMember(
                one.member_id,
                one.instance_id,
                one.client_id,
                one.client_host,
                one.rebalance_timeout_ms,
                one.session_timeout_ms,
                one.metadata(protocol),
                one.assignment,
            )
            for one in self.members.values()
        )
        stored = StoredGroup(
            self.protocol_type or "",
            self.generation,
            protocol,
            self.leader,
            self.state_timestamp,
            members,
        )
        return group_record(self.group_id, stored)

    def tombstones(self) -> list[KeyValue]:
        return [KeyValue(group_key(self.group_id), None)]

    # --- questions ----------------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        return self.state is EMPTY and not self.expected

    @property
    def has_all_joined(self) -> bool:
        return self.waiting == len(self.members) and not self.expected

    @property
    def rebalance_timeout_ms(self) -> int:
        """How long members may take to join: the longest that one of them asked for."""
        return max((one.rebalance_timeout_ms for one in self.members.values()), default=0)

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Whether a member that speaks these may belong to it."""
        if self.state is EMPTY:
            return bool(protocol_type and protocols)
        if self.protocol_type != protocol_type:
            return False
        everybody = len(self.members)
        return any(self.supported.get(name, 0) == everybody for name, _ in protocols)

    def choose_protocol(self) -> str | None:
        """Each member votes for the first of its protocols that all speak; the first with the most votes wins."""
        everybody = len(self.members)
        votes: dict[str, int] = {}
        for member in self.members.values():
            for name, _ in member.protocols:
                if self.supported[name] == everybody:
                    votes[name] = votes.get(name, 0) + 1
                    break
        return max(votes, key=votes.__getitem__) if votes else None

    def validate(self, member_id: str, instance_id: str | None) -> ErrorCode:
        """Whether somebody is the member that it says it is."""
        if instance_id is not None:
            known = self.instances.get(instance_id)
            if known is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if known != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def member_list(self) -> list[JoinGroupResponseMember]:
        """What the leader is told of everybody."""
        protocol = self.protocol
        return [
            JoinGroupResponseMember(
                member_id=one.member_id,
                group_instance_id=one.instance_id,
                metadata=one.metadata(protocol),
            )
            for one in self.members.values()
        ]

    # --- what every kind of group answers -----------------------------------------------------

    def refuse_commit(self, claim: Claim) -> ErrorCode:
        if claim.epoch < 0 and self.state is EMPTY:
            return ErrorCode.NONE  # an administrator, or a consumer that uses no group
        if claim.epoch >= 0 or claim.member_id != NO_MEMBER or claim.instance_id is not None:
            code = self.validate(claim.member_id, claim.instance_id)
            if code is not ErrorCode.NONE:
                return code
            if claim.epoch != self.generation:
                return ErrorCode.ILLEGAL_GENERATION
        elif not claim.is_transactional and self.state is not EMPTY:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if not claim.is_transactional and self.state is COMPLETING:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    def refuse_fetch(self, claim: Claim) -> ErrorCode:
        del claim  # whoever may read the group may see its offsets
        return ErrorCode.NONE

    def refuse_offset_delete(self) -> ErrorCode:
        if self.state is EMPTY or self.protocol_type == CONSUMER_PROTOCOL:
            return ErrorCode.NONE
        return ErrorCode.NON_EMPTY_GROUP

    def refuse_delete(self) -> ErrorCode:
        return ErrorCode.NONE if self.state is EMPTY else ErrorCode.NON_EMPTY_GROUP

    def touch(self, member_id: str, elapsed_ms: int) -> None:
        if self.state is STABLE or self.state is PREPARING:
            member = self.members.get(member_id)
            if member is not None:
                member.deadline_ms = elapsed_ms + member.session_timeout_ms

    def is_subscribed(self, topic: str) -> bool:
        subscribed = self.subscribed()
        if subscribed is None:
            return self.protocol_type == CONSUMER_PROTOCOL
        return topic in subscribed

    def subscribed(self) -> dict[str, None] | None:
        """The topics that its members read; None where they do not say."""
        changes, protocol, found = self._subscribed
        if (changes, protocol) != (self._changes, self.protocol):
            found = self._find_subscribed()
            self._subscribed = (self._changes, self.protocol, found)
        return found

    def _find_subscribed(self) -> dict[str, None] | None:
        if self.protocol_type != CONSUMER_PROTOCOL or (self.members and self.protocol is None):
            return None
        found: dict[str, None] = {}
        for member in self.members.values():
            topics = _topics_of(member.metadata(self.protocol))
            if topics is None:
                return None
            found.update(dict.fromkeys(topics))
        return found

    def expires_from(self, committed: Committed) -> int | None:
        if self.protocol_type is None:
            return committed.commit_timestamp
        if self.state is EMPTY:
            unknown = self.state_timestamp == NO_TIMESTAMP
            return committed.commit_timestamp if unknown else self.state_timestamp
        if self.state is STABLE and self.subscribed() is not None:
            return committed.commit_timestamp
        return None

    # --- changes ------------------------------------------------------------------------------

    def become(self, state: GroupState, now_ms: int) -> None:
        assert state in NEXT[self.state], f"groups.classic I3: {self.state} -> {state}"
        self.came_from, self.state, self.state_timestamp = self.state, state, now_ms

    def add(self, member: Member, ticket: Ticket | None = None) -> None:
        """A new member, which may wait to join."""
        if self.leader is None:
            self.leader = member.member_id
        self.members[member.member_id] = member
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.member_id
        self._count(member.protocols, 1)
        self.expected.pop(member.member_id, None)
        self.set_joining(member, ticket)

    def remove(self, member_id: str) -> Member | None:
        """Somebody is not a member, or expected, any more."""
        self.expected.pop(member_id, None)
        self.unsynced.pop(member_id, None)
        member = self.members.pop(member_id, None)
        if member is None:
            return None
        self._count(member.protocols, -1)
        self.set_joining(member, None)
        if member.instance_id is not None and self.instances.get(member.instance_id) == member_id:
            del self.instances[member.instance_id]
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        return member

    def rename(self, member: Member, member_id: str) -> None:
        """A static member comes back under a new id; its place among the members stays."""
        old_id = member.member_id
        member.member_id = member_id
        self.members = {
            (member_id if key == old_id else key): one for key, one in self.members.items()
        }
        assert member.instance_id is not None
        self.instances[member.instance_id] = member_id
        if self.leader == old_id:
            self.leader = member_id
        if self.unsynced.pop(old_id, self) is None:
            self.unsynced[member_id] = None

    def change_protocols(self, member: Member, protocols: Protocols) -> None:
        self._count(member.protocols, -1)
        member.protocols = protocols
        self._count(protocols, 1)

    def set_joining(self, member: Member, ticket: Ticket | None) -> None:
        self.waiting += (ticket is not None) - (member.joining is not None)
        member.joining = ticket

    def elect_leader(self) -> bool:
        """See that the leader is somebody who has joined; False when nobody has."""
        leader = self.members.get(self.leader) if self.leader is not None else None
        if leader is not None and leader.joining is not None:
            return True
        for member in self.members.values():
            if member.joining is not None:
                self.leader = member.member_id
                return True
        return False

    def check(self) -> None:
        """Assert the invariants."""
        counted: dict[str, int] = {}
        for member in self.members.values():
            for name in dict.fromkeys(name for name, _ in member.protocols):
                counted[name] = counted.get(name, 0) + 1
        assert counted == self.supported, "groups.classic I1: votes"
        joining = sum(one.joining is not None for one in self.members.values())
        assert self.waiting == joining, "groups.classic I1: waiting"
        assert self.leader is None or self.leader in self.members, "groups.classic I2: leader"
        static = {
            one.instance_id: one.member_id
            for one in self.members.values()
            if one.instance_id is not None
        }
        assert static == self.instances, "groups.classic I2: static members"
        assert not any(one in self.members for one in self.expected), "groups.classic I2"
        assert self.state is not DEAD
        if self.state in (COMPLETING, STABLE):
            assert self.protocol is not None, "groups.classic I4"
            assert self.supported[self.protocol] == len(self.members), "groups.classic I4"
        if self.state is EMPTY:
            assert not self.members

    def _count(self, protocols: Protocols, change: int) -> None:
        self._changes += 1
        for name in dict.fromkeys(name for name, _ in protocols):
            count = self.supported.get(name, 0) + change
            if count:
                self.supported[name] = count
            else:
                del self.supported[name]


def _topics_of(subscription: bytes) -> Sequence[str] | None:
    """The topics in what a consumer says; the first version is how every later one begins."""
    try:
        found = codec(ConsumerProtocolSubscription, 0).decode(subscription, 2)[0]
    except ProtocolError:
        return None
    topics: Sequence[str] = found.topics
    return topics
