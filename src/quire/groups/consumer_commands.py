"""What consumer groups are asked for, and what becomes of the group besides: made, changed in its kind, left.

    heartbeat        epoch 0 makes a group, and turns a classic one into a consumer group where that may be
    leave, timers    who goes may leave classic members only: the group is classic again
    JoinGroup and the like of classic members come here when their group is a consumer group

Invariants
  I1  Only somebody who joins makes a group, or turns one into another kind; who is refused does not.
Not here   what a heartbeat comes to (consumer_heartbeat), what classic members are told (consumer_classic).
See        KIP-848
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.coordination import Caller, Ticket
from quire.errors import ErrorCode
from quire.groups import consumer_classic
from quire.groups.classic import ClassicGroup
from quire.groups.consumer_draft import Draft
from quire.groups.consumer_group import ConsumerGroup
from quire.groups.consumer_heartbeat import Refusal, Request, heartbeat, refuse_invalid
from quire.groups.consumer_leaving import go_away, left, refuse_leave, remove, whom_to_fence
from quire.groups.consumer_values import AWAY, JOINING
from quire.groups.directory import Directory
from quire.groups.joining import Joiner
from quire.groups.migration import downgrade, has_new_protocol, let_go, may_downgrade, upgrade
from quire.groups.step import Step
from quire.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)

# --- the new protocol --------------------------------------------------------------------------


def on_heartbeat(
    groups: Directory, step: Step, ticket: Ticket, request: Request, caller: Caller
) -> None:
    """Answer a ConsumerGroupHeartbeat."""
    refusal = refuse_invalid(request, caller.version, step.settings.consumer_assignors)
    if refusal is not None:
        step.answer(ticket, refusal.response())
    elif request.member_epoch < JOINING:
        _leave(groups, step, ticket, request)
    else:
        _go_on(groups, step, ticket, request, caller)


def _go_on(groups: Directory, step: Step, ticket: Ticket, request: Request, caller: Caller) -> None:
    group_id = request.group_id
    group = groups.find(group_id)
    draft = None
    if isinstance(group, ConsumerGroup):
        draft = Draft(group_id, group.stored, step.records)
    elif request.member_epoch == JOINING:
        classic, group = group, ConsumerGroup(group_id)
        if classic is None or isinstance(classic, ClassicGroup):
            draft = _make(classic, group, step)
        if draft is not None:
            groups.put_consumer(group)
    if draft is None or not isinstance(group, ConsumerGroup):
        reason = f"Consumer group {group_id} not found."
        if group is not None:
            reason = f"Group {group_id} is not a consumer group."
        step.answer(ticket, Refusal(ErrorCode.GROUP_ID_NOT_FOUND, reason).response())
        return
    step.answer(ticket, heartbeat(group, draft, step, request, caller))


def _make(classic: ClassicGroup | None, group: ConsumerGroup, step: Step) -> Draft | None:
    """A new group, in the place of a classic one where there is one."""
    if classic is None:
        return Draft(group.group_id, group.stored, step.records)
    if classic.members:
        return upgrade(classic, group, step)
    let_go(classic, step)
    step.records += classic.tombstones()
    return Draft(group.group_id, group.stored, step.records)


def _leave(groups: Directory, step: Step, ticket: Ticket, request: Request) -> None:
    group_id, member_id = request.group_id, request.member_id
    group = groups.find(group_id)
    if not isinstance(group, ConsumerGroup):
        reason = f"Group {group_id} not found."
        if group is not None:
            reason = f"Group {group_id} is not a consumer group."
        step.answer(ticket, Refusal(ErrorCode.GROUP_ID_NOT_FOUND, reason).response())
        return
    draft = Draft(group_id, group.stored, step.records)
    refusal = refuse_leave(draft, request)
    if refusal is not None:
        step.answer(ticket, refusal.response())
        return
    if request.member_epoch == AWAY:
        go_away(draft, member_id)
    else:
        _without(groups, group, step, (member_id,))
    step.answer(ticket, left(request))


def on_timer(groups: Directory, step: Step, kind: str, group_id: str, member_id: str) -> None:
    """A member may have to go."""
    group = groups.find(group_id)
    if isinstance(group, ConsumerGroup) and whom_to_fence(group, step, kind, member_id):
        _without(groups, group, step, (member_id,))


def _without(
    groups: Directory, group: ConsumerGroup, step: Step, member_ids: Sequence[str]
) -> None:
    """Members go, and perhaps the new protocol with them."""
    if may_downgrade(group.stored, member_ids, step):
        groups.put_classic(downgrade(group, group.stored, member_ids, step))
    else:
        remove(group, Draft(group.group_id, group.stored, step.records), step, member_ids)


# --- classic members ---------------------------------------------------------------------------


def on_join(groups: Directory, group: ConsumerGroup, step: Step, joiner: Joiner) -> None:
    """A classic member joins a consumer group that has members, or is joining it anew."""
    draft = Draft(group.group_id, group.stored, step.records)
    was_mixed = has_new_protocol(draft.now)
    consumer_classic.join(group, draft, step, joiner)
    if was_mixed and not has_new_protocol(draft.now) and may_downgrade(draft.now, (), step):
        # it was static, and has taken the place of the last member of the new protocol
        groups.put_classic(downgrade(group, draft.now, (), step))


def on_leave(
    groups: Directory, group: ConsumerGroup, step: Step, request: LeaveGroupRequest
) -> LeaveGroupResponse:
    """Classic members go, or an administrator removes static ones."""
    answers = []
    leaving: dict[str, None] = {}
    for one in request.members:
        member_id, code = consumer_classic.refuse_leave(group, one)
        if code is ErrorCode.NONE:
            leaving[member_id] = None
        answers.append(_left(one, code))
    if leaving:
        _without(groups, group, step, tuple(leaving))
    return LeaveGroupResponse(error_code=ErrorCode.NONE, members=answers)


def _left(one: MemberIdentity, code: ErrorCode) -> MemberResponse:
    return MemberResponse(
        member_id=one.member_id, group_instance_id=one.group_instance_id, error_code=code
    )
