"""JoinGroup: how somebody becomes a member of a classic group, or stays one.

    without a member id    a new member; from v4 on it is given an id first and joins with that (KIP-394), but for
                           static members (KIP-345), who are known by their instance
    with one               a member of an earlier generation, or one that was given its id

A static member that comes back takes the place of its former self. In a stable group whose protocol stays, nobody
else notices: it is told the present generation, and its former self is fenced.

Invariants
  I1  A group is made by somebody without a member id only.
  I2  A group never has more than `group.max.size` members in a generation.
Not here   the rebalance itself (rebalance), whether the request may be made at all (the coordinator).
See        KIP-62, KIP-345, KIP-394, KIP-814 (the leader may skip its assignment)
"""

from __future__ import annotations

from typing import Final

from quire.coordination import Caller, Ticket
from quire.errors import ErrorCode
from quire.groups.classic import ClassicGroup
from quire.groups.kinds import NO_MEMBER
from quire.groups.rebalance import (
    SESSION,
    finish_if_all_joined,
    keep_alive,
    prepare,
    prepare_or_finish,
    refuse_join,
    refuse_sync,
    tell_joined,
)
from quire.groups.roster import Member, Protocols
from quire.groups.states import COMPLETING, EMPTY, PREPARING, STABLE
from quire.groups.step import Step
from quire.protocol.messages.join_group import JoinGroupRequest

MEMBER_ID_REQUIRED_SINCE: Final = 4
SKIP_ASSIGNMENT_SINCE: Final = 9
NEW_MEMBER_TIMEOUT_MS: Final = 5 * 60_000
"""How long a new member may wait to join: until then it cannot show that it is alive."""


class Joiner:
    """One request to join, and who makes it."""

    __slots__ = ("caller", "protocols", "request", "ticket")

    def __init__(self, ticket: Ticket, request: JoinGroupRequest, caller: Caller) -> None:
        self.ticket = ticket
        self.request = request
        self.caller = caller
        self.protocols: Protocols = tuple(
            (one.name, bytes(one.metadata)) for one in request.protocols
        )

    @property
    def rebalance_timeout_ms(self) -> int:
        asked_ms = self.request.rebalance_timeout_ms
        return self.request.session_timeout_ms if asked_ms < 0 else asked_ms


def join(group: ClassicGroup, step: Step, joiner: Joiner) -> None:
    """Answer, or keep the ticket until the rebalance is over."""
    member_id = joiner.request.member_id
    is_unknown = member_id == NO_MEMBER
    if not _has_room(group, member_id, step.settings.group_size_max):
        group.remove(member_id)
        refuse_join(step, joiner.ticket, ErrorCode.GROUP_MAX_SIZE_REACHED, NO_MEMBER)
    elif not group.supports(joiner.request.protocol_type, joiner.protocols):
        refuse_join(step, joiner.ticket, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, member_id)
    elif is_unknown:
        _join_new(group, step, joiner)
    else:
        _join_known(group, step, joiner)


def _has_room(group: ClassicGroup, member_id: str, limit: int) -> bool:
    """I2; while a group is preparing only those count who have joined: the last ones are left out."""
    if group.state is EMPTY:
        return True
    known = group.members.get(member_id)
    if group.state is PREPARING:
        return (known is not None and known.joining is not None) or group.waiting < limit
    return known is not None or len(group.members) < limit


def _join_new(group: ClassicGroup, step: Step, joiner: Joiner) -> None:
    request = joiner.request
    instance_id = request.group_instance_id
    member_id = new_member_id(step, joiner)
    if instance_id is None:
        if joiner.caller.version >= MEMBER_ID_REQUIRED_SINCE:
            group.expected[member_id] = None
            step.timer((SESSION, group.group_id, member_id), request.session_timeout_ms)
            refuse_join(step, joiner.ticket, ErrorCode.MEMBER_ID_REQUIRED, member_id)
        else:
            _add(group, step, joiner, member_id)
    elif instance_id in group.instances:
        _replace(group, step, joiner, member_id)
    else:
        _add(group, step, joiner, member_id)


def _join_known(group: ClassicGroup, step: Step, joiner: Joiner) -> None:
    request = joiner.request
    member_id = request.member_id
    if member_id in group.expected and request.group_instance_id is None:
        _add(group, step, joiner, member_id)
        return
    code = group.validate(member_id, request.group_instance_id)
    if code is ErrorCode.NONE and group.state is EMPTY:
        code = ErrorCode.UNKNOWN_MEMBER_ID
    if code is not ErrorCode.NONE:
        refuse_join(step, joiner.ticket, code, member_id)
        return
    member = group.members[member_id]
    is_leader = member_id == group.leader
    is_same = member.protocols == joiner.protocols
    if group.state is COMPLETING and is_same:
        # it may not have had the answer
        tell_joined(group, step, joiner.ticket, member, with_members=is_leader)
    elif group.state is STABLE and is_same and not is_leader:
        tell_joined(group, step, joiner.ticket, member, with_members=False)
    else:
        # also a leader that has not changed: what it assigns may have
        _update(group, step, joiner, member)
        prepare_or_finish(group, step)


def _add(group: ClassicGroup, step: Step, joiner: Joiner, member_id: str) -> None:
    request, caller = joiner.request, joiner.caller
    member = Member(
        member_id,
        instance_id=request.group_instance_id,
        client=(caller.client_id, caller.host),
        rebalance_timeout_ms=joiner.rebalance_timeout_ms,
        session_timeout_ms=request.session_timeout_ms,
        protocols=joiner.protocols,
    )
    member.is_new = True
    if group.state is PREPARING and group.came_from is EMPTY:
        group.has_newcomers = True
    if not group.members:
        group.protocol_type = request.protocol_type
    group.add(member, joiner.ticket)
    keep_alive(group, step, member, NEW_MEMBER_TIMEOUT_MS)
    prepare_or_finish(group, step)


def _update(group: ClassicGroup, step: Step, joiner: Joiner, member: Member) -> None:
    """A member joins anew, and may have changed."""
    if member.joining is not None:
        # it asks twice: only the later one is answered with a generation
        refuse_join(step, member.joining, ErrorCode.REBALANCE_IN_PROGRESS, member.member_id)
    group.change_protocols(member, joiner.protocols)
    member.rebalance_timeout_ms = joiner.rebalance_timeout_ms
    member.session_timeout_ms = joiner.request.session_timeout_ms
    group.set_joining(member, joiner.ticket)


def _replace(group: ClassicGroup, step: Step, joiner: Joiner, member_id: str) -> None:
    """A static member comes back under a new id."""
    instance_id = joiner.request.group_instance_id
    assert instance_id is not None
    member = group.members[group.instances[instance_id]]
    former_leader = group.leader
    if member.joining is not None:
        refuse_join(step, member.joining, ErrorCode.FENCED_INSTANCE_ID, member.member_id)
        group.set_joining(member, None)
    if member.syncing is not None:
        refuse_sync(step, member.syncing, ErrorCode.FENCED_INSTANCE_ID)
        member.syncing = None
    step.timer((SESSION, group.group_id, member.member_id), None)
    member.armed_ms = None
    group.rename(member, member_id)
    _update(group, step, joiner, member)
    keep_alive(group, step, member)
    if group.state is STABLE and group.choose_protocol() == group.protocol:
        group.set_joining(member, None)
        step.records.append(group.record())
        knows_skipping = joiner.caller.version >= SKIP_ASSIGNMENT_SINCE
        is_leader = member_id == group.leader and knows_skipping
        tell_joined(
            group,
            step,
            joiner.ticket,
            member,
            with_members=is_leader,
            leader=None if knows_skipping else former_leader,
            skip_assignment=is_leader,
        )
    elif group.state is PREPARING:
        finish_if_all_joined(group, step)
    else:
        # COMPLETING: the leader may assign to the former id; STABLE: the protocol changes
        prepare(group, step)


def new_member_id(step: Step, joiner: Joiner) -> str:
    """What its client or its instance is called, and a random id as Java writes it: version 4."""
    drawn = bytearray(step.draw(16))
    drawn[6] = drawn[6] & 0x0F | 0x40
    drawn[8] = drawn[8] & 0x3F | 0x80
    text = drawn.hex()
    instance_id = joiner.request.group_instance_id
    name = joiner.caller.client_id if instance_id is None else instance_id
    return "-".join((name, text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
