"""Who belongs to a classic group: its members, what they vote for, who leads, who waits for what.

Invariants
  I1  `supported` counts, for each protocol, the members that speak it; `waiting` counts those that wait to join.
  I2  The leader is a member; each static id belongs to one member; who is expected (a member id was given out, no
      member yet) is not a member.
Not here   states and generations (classic), when members come and go (joining, membership, rebalance).
See        KIP-345 (static members), KIP-394 (member ids first)
"""

from __future__ import annotations

from quire.coordination import Ticket
from quire.errors import ErrorCode
from quire.protocol.messages.join_group import JoinGroupResponseMember

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


class Roster:
    """See the module."""

    def __init__(self) -> None:
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
        self.changes = 0
        """How often what members speak has changed."""

    @property
    def has_all_joined(self) -> bool:
        return self.waiting == len(self.members) and not self.expected

    @property
    def rebalance_timeout_ms(self) -> int:
        """How long members may take to join: the longest that one of them asked for."""
        return max((one.rebalance_timeout_ms for one in self.members.values()), default=0)

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

    def member_list(self, protocol: str | None) -> list[JoinGroupResponseMember]:
        """What the leader is told of everybody."""
        return [
            JoinGroupResponseMember(
                member_id=one.member_id,
                group_instance_id=one.instance_id,
                metadata=one.metadata(protocol),
            )
            for one in self.members.values()
        ]

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
        assert counted == self.supported, "groups.roster I1: votes"
        joining = sum(one.joining is not None for one in self.members.values())
        assert self.waiting == joining, "groups.roster I1: waiting"
        assert self.leader is None or self.leader in self.members, "groups.roster I2: leader"
        static = {
            one.instance_id: one.member_id
            for one in self.members.values()
            if one.instance_id is not None
        }
        assert static == self.instances, "groups.roster I2: static members"
        assert not any(one in self.members for one in self.expected), "groups.roster I2"

    def _count(self, protocols: Protocols, change: int) -> None:
        self.changes += 1
        for name in dict.fromkeys(name for name, _ in protocols):
            count = self.supported.get(name, 0) + change
            if count:
                self.supported[name] = count
            else:
                del self.supported[name]
