"""Soft state of one classic group: a roster with a state, a generation and a protocol.

It is made of what is stored, or new; steps change it. What of it outlives a broker is what they write.

Invariants
  I1  Only a state's followers in the table may follow it.
  I2  In COMPLETING_REBALANCE and STABLE there is a protocol, and every member speaks it.
Not here   members and their votes (roster), how it comes from one generation to the next (rebalance), bytes (keys).
See        KIP-62
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from quire.coordination import KeyValue
from quire.errors import ErrorCode, ProtocolError
from quire.groups.keys import group_key, group_record
from quire.groups.kinds import NO_MEMBER, Claim, GroupType
from quire.groups.roster import Member, Protocols, Roster
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

CONSUMER_PROTOCOL: Final = "consumer"
"""The protocol type whose members tell what they subscribe to."""
NO_TIMESTAMP: Final = -1


class ClassicGroup(Roster):
    """See the module."""

    group_type = GroupType.CLASSIC

    def __init__(self, group_id: str, now_ms: int) -> None:
        super().__init__()
        self.group_id = group_id
        self.state = EMPTY
        self.came_from = EMPTY
        """The state before this one."""
        self.state_timestamp = now_ms
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.has_newcomers = False
        """Somebody came while the first rebalance was delayed."""
        self.delay_ms = 0
        self.delay_left_ms = 0
        """How long the first rebalance may still be delayed."""
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

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Whether a member that speaks these may belong to it."""
        if self.state is EMPTY:
            return bool(protocol_type and protocols)
        if self.protocol_type != protocol_type:
            return False
        everybody = len(self.members)
        return any(self.supported.get(name, 0) == everybody for name, _ in protocols)

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
        if (changes, protocol) != (self.changes, self.protocol):
            found = self._find_subscribed()
            self._subscribed = (self.changes, self.protocol, found)
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
        assert state in NEXT[self.state], f"groups.classic I1: {self.state} -> {state}"
        self.came_from, self.state, self.state_timestamp = self.state, state, now_ms

    def check(self) -> None:
        """Assert the invariants."""
        super().check()
        assert self.state is not DEAD
        if self.state in (COMPLETING, STABLE):
            assert self.protocol is not None, "groups.classic I2"
            assert self.supported[self.protocol] == len(self.members), "groups.classic I2"
        if self.state is EMPTY:
            assert not self.members


def _topics_of(subscription: bytes) -> Sequence[str] | None:
    """The topics in what a consumer says; the first version is how every later one begins."""
    try:
        found = codec(ConsumerProtocolSubscription, 0).decode(subscription, 2)[0]
    except ProtocolError:
        return None
    topics: Sequence[str] = found.topics
    return topics
