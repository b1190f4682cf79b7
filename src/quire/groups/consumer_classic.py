"""Members of the classic protocol in a consumer group: JoinGroup, SyncGroup, Heartbeat and LeaveGroup for them.

While a group changes from one protocol to the other both kinds of members are in it. A classic member is told to join
anew where one of the new protocol would learn something from its next heartbeat:

    JoinGroup   says what it wants and owns, as a heartbeat does; its epoch is its generation
    SyncGroup   gives it what it holds now
    Heartbeat   REBALANCE_IN_PROGRESS when the group is ahead of it, when it has something to give back, or when
                something that it waited for is free

Invariants
  I1  Nobody makes an assignment but the group's assignor: no member is told that it leads.
Not here   how a group comes to have both kinds (migration), the new protocol (consumer_heartbeat).
See        KIP-848 ("Upgrading the cluster")
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Final

from quire.coordination import Ticket
from quire.errors import ErrorCode, ProtocolError
from quire.groups.consumer_draft import Draft
from quire.groups.consumer_group import PROTOCOL_TYPE, ConsumerGroup
from quire.groups.consumer_heartbeat import advance, follow, is_full, refuse_instance, take_place
from quire.groups.consumer_reconciling import Owned
from quire.groups.consumer_sessions import REJOIN, SYNC
from quire.groups.consumer_states import UNRELEASED, UNREVOKED
from quire.groups.consumer_values import NO_PATTERN, ClassicSide, Held, Wishes
from quire.groups.joining import MEMBER_ID_REQUIRED_SINCE, Joiner, new_member_id
from quire.groups.kinds import NO_MEMBER
from quire.groups.rebalance import refuse_join, refuse_sync
from quire.groups.step import Step
from quire.metadata.image import Image
from quire.protocol.compiler import codec
from quire.protocol.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolAssignmentTopicPartition,
    ConsumerProtocolSubscription,
)
from quire.protocol.messages.heartbeat import HeartbeatRequest
from quire.protocol.messages.join_group import JoinGroupResponse
from quire.protocol.messages.leave_group import MemberIdentity
from quire.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

NEWEST: Final = 3
"""Of what consumers say in the classic protocol: a later version begins like this one."""
_VERSION: Final = Struct(">h")


# --- what consumers say in the classic protocol ------------------------------------------------


def read_subscription(metadata: bytes) -> Any | None:
    """What a consumer says when it joins; None when it is not that."""
    try:
        version = _version(metadata)
        return codec(ConsumerProtocolSubscription, version).decode(metadata, 2)[0]
    except (ProtocolError, ValueError):
        return None


def read_assignment(assignment: bytes, image: Image) -> dict[bytes, list[int]] | None:
    """The partitions in what a leader gave, of topics that there are; None when it is not that."""
    if not assignment:
        return {}
    try:
        version = _version(assignment)
        found = codec(ConsumerProtocolAssignment, version).decode(assignment, 2)[0]
    except (ProtocolError, ValueError):
        return None
    return {
        image.topics[one.topic].topic_id: sorted(one.partitions)
        for one in found.assigned_partitions
        if one.topic in image.topics
    }


def write_assignment(held: Held, version: int, image: Image) -> bytes:
    """What a member of the classic protocol is given."""
    value = ConsumerProtocolAssignment(
        assigned_partitions=[
            ConsumerProtocolAssignmentTopicPartition(
                topic=image.topic_names[topic_id], partitions=sorted(partitions)
            )
            for topic_id, partitions in held.items()
            if topic_id in image.topic_names
        ]
    )
    return _VERSION.pack(version) + codec(ConsumerProtocolAssignment, version).encode(value)


def assignment_of(wishes: Wishes, held: Held, image: Image) -> bytes:
    """The same, in the version that the member speaks."""
    assert wishes.classic is not None
    return write_assignment(held, _version(wishes.classic.protocols[0][1]), image)


def _version(content: bytes) -> int:
    if len(content) < _VERSION.size:
        raise ValueError("too short for a version")
    version: int = _VERSION.unpack_from(content)[0]
    if version < 0:
        raise ValueError("no version")
    return min(version, NEWEST)


# --- JoinGroup --------------------------------------------------------------------------------


def join(group: ConsumerGroup, draft: Draft, step: Step, joiner: Joiner) -> None:
    """Answered at once: nobody waits for anybody."""
    request = joiner.request
    member_id = request.member_id
    subscription = read_subscription(joiner.protocols[0][1] if joiner.protocols else b"")
    code = _refuse_join(draft, step, joiner)
    if code is ErrorCode.NONE and subscription is None:
        code = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    is_new = member_id == NO_MEMBER
    if is_new:
        member_id = new_member_id(step, joiner)
    knows_ids = joiner.caller.version >= MEMBER_ID_REQUIRED_SINCE
    if code is ErrorCode.NONE and is_new and knows_ids and request.group_instance_id is None:
        code = ErrorCode.MEMBER_ID_REQUIRED
    if code is not ErrorCode.NONE:
        told = member_id if code is ErrorCode.MEMBER_ID_REQUIRED else request.member_id
        refuse_join(step, joiner.ticket, code, told)
        return
    assert subscription is not None
    before = take_place(group, draft, step, request.group_instance_id, member_id)
    wishes = Wishes(
        member_id,
        request.group_instance_id,
        subscription.rack_id,
        joiner.caller.client_id,
        joiner.caller.host,
        tuple(sorted({*subscription.topics})),
        NO_PATTERN,
        joiner.rebalance_timeout_ms,
        None,
        ClassicSide(request.session_timeout_ms, joiner.protocols),
    )
    epoch = draft.now.holding(member_id).epoch
    follow(group, draft, step, before, wishes)
    owned = _owned(subscription, epoch, step.moment.image)
    holding = advance(group, draft, step, wishes, owned)
    sessions = group.sessions
    sessions.keep_alive(step, member_id, request.session_timeout_ms)
    sessions.fulfil(step, REJOIN, member_id)
    sessions.fulfil(step, SYNC, member_id)
    sessions.expect(step, SYNC, member_id, holding.epoch, joiner.rebalance_timeout_ms)
    step.answer(
        joiner.ticket,
        JoinGroupResponse(
            error_code=ErrorCode.NONE,
            generation_id=holding.epoch,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=joiner.protocols[0][0],
            leader="",
            member_id=member_id,
            members=[],
        ),
    )


def _refuse_join(draft: Draft, step: Step, joiner: Joiner) -> ErrorCode:
    request, now = joiner.request, draft.now
    instance_id, member_id = request.group_instance_id, request.member_id
    if is_full(draft, step, member_id) and instance_id not in now.instances:
        return ErrorCode.GROUP_MAX_SIZE_REACHED
    if request.protocol_type != PROTOCOL_TYPE or not joiner.protocols:
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    names = {name for name, _ in joiner.protocols}
    for wishes in now.members.values():
        if wishes.classic is not None and wishes.member_id != member_id:
            names.intersection_update(name for name, _ in wishes.classic.protocols)
    if not names:
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if instance_id is not None and member_id != NO_MEMBER:
        refusal = refuse_instance(draft, instance_id, member_id, is_joining=False)
        if refusal is not None:
            return refusal.code
    return ErrorCode.NONE


def _owned(subscription: Any, epoch: int, image: Image) -> Owned:
    """What a member says that it owns; of another generation it has lost everything."""
    if subscription.generation_id != epoch:
        return {}
    return {
        image.topics[one.topic].topic_id: frozenset(one.partitions)
        for one in subscription.owned_partitions
        if one.topic in image.topics
    }


# --- SyncGroup, Heartbeat, LeaveGroup ----------------------------------------------------------


def sync(group: ConsumerGroup, step: Step, ticket: Ticket, request: SyncGroupRequest) -> None:
    """Give a member what it holds."""
    code = _refuse(group, request.member_id, request.group_instance_id, request.generation_id)
    if code is ErrorCode.NONE:
        code = _refuse_sync(group, step, request)
    if code is not ErrorCode.NONE:
        refuse_sync(step, ticket, code)
        return
    stored = group.stored
    wishes = stored.members[request.member_id]
    assert wishes.classic is not None
    group.sessions.fulfil(step, SYNC, request.member_id)
    group.sessions.keep_alive(step, request.member_id, wishes.classic.session_timeout_ms)
    held = stored.holding(request.member_id).assigned
    step.answer(
        ticket,
        SyncGroupResponse(
            error_code=ErrorCode.NONE,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=wishes.classic.protocols[0][0],
            assignment=assignment_of(wishes, held, step.moment.image),
        ),
    )


def _refuse_sync(group: ConsumerGroup, step: Step, request: SyncGroupRequest) -> ErrorCode:
    stored = group.stored
    wishes = stored.members[request.member_id]
    assert wishes.classic is not None
    name = wishes.classic.protocols[0][0]
    if request.protocol_type not in (None, PROTOCOL_TYPE) or request.protocol_name not in (
        None,
        name,
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    holding = stored.holding(request.member_id)
    if stored.epoch > holding.epoch and holding.state is not UNREVOKED:
        _expect_rejoin(group, step, wishes, holding.epoch)
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def heartbeat(group: ConsumerGroup, step: Step, request: HeartbeatRequest) -> ErrorCode:
    """Whether a member shall join anew."""
    member_id = request.member_id
    code = _refuse(group, member_id, request.group_instance_id, request.generation_id)
    if code is not ErrorCode.NONE:
        return code
    stored = group.stored
    wishes = stored.members[member_id]
    assert wishes.classic is not None
    group.sessions.keep_alive(step, member_id, wishes.classic.session_timeout_ms)
    holding = stored.holding(member_id)
    is_free = holding.state is UNRELEASED and not _waits(group, member_id)
    if holding.epoch < stored.epoch or holding.state is UNREVOKED or is_free:
        _expect_rejoin(group, step, wishes, holding.epoch)
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def refuse_leave(group: ConsumerGroup, leaver: MemberIdentity) -> tuple[str, ErrorCode]:
    """Who goes, and why not."""
    stored = group.stored
    member_id, instance_id = leaver.member_id, leaver.group_instance_id
    if instance_id is not None:
        known = stored.instances.get(instance_id)
        if known is None:
            return member_id, ErrorCode.UNKNOWN_MEMBER_ID
        if member_id not in (NO_MEMBER, known):
            return member_id, ErrorCode.FENCED_INSTANCE_ID
        member_id = known  # an administrator knows only the instance
    is_known = member_id in stored.members
    return member_id, ErrorCode.NONE if is_known else ErrorCode.UNKNOWN_MEMBER_ID


def _refuse(
    group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int
) -> ErrorCode:
    """Whether somebody is a member of the classic protocol, in its generation."""
    stored = group.stored
    if instance_id is not None:
        known = stored.instances.get(instance_id)
        if known is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if known != member_id:
            return ErrorCode.FENCED_INSTANCE_ID
    wishes = stored.members.get(member_id)
    if wishes is None or wishes.classic is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if generation != stored.holding(member_id).epoch:
        return ErrorCode.ILLEGAL_GENERATION
    return ErrorCode.NONE


def _expect_rejoin(group: ConsumerGroup, step: Step, wishes: Wishes, epoch: int) -> None:
    group.sessions.expect(step, REJOIN, wishes.member_id, epoch, wishes.rebalance_timeout_ms)


def _waits(group: ConsumerGroup, member_id: str) -> bool:
    """Whether somebody else holds what a member shall have."""
    stored = group.stored
    return any(
        stored.owners.get((topic_id, partition), member_id) != member_id
        for topic_id, partitions in stored.target(member_id).items()
        for partition in partitions
    )
