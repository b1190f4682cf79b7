"""SyncGroup, Heartbeat and LeaveGroup of classic groups.

SyncGroup    the leader hands in the assignment of its generation, the others ask for theirs and wait until it is there
Heartbeat    a member is alive, and learns whether it shall join anew
LeaveGroup   members go, by id or by static id; the others share their work

Invariants
  I1  Only a member of the present generation is given an assignment, and only the leader makes one: nobody owns what
      another generation gave.
Not here   the rebalance itself (rebalance), becoming a member (joining).
See        KIP-62, KIP-345, KIP-559 (protocol in syncs), KIP-800 (reasons)
"""

from __future__ import annotations

from quire.coordination import Ticket
from quire.errors import ErrorCode
from quire.groups.classic import ClassicGroup
from quire.groups.kinds import NO_MEMBER
from quire.groups.rebalance import (
    drop,
    drop_expected,
    give_assignment,
    go_on_without,
    keep_alive,
    refuse_sync,
    settled,
    synced,
)
from quire.groups.states import COMPLETING, EMPTY, PREPARING
from quire.groups.step import Step
from quire.protocol.messages.heartbeat import HeartbeatRequest
from quire.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from quire.protocol.messages.sync_group import SyncGroupRequest


def sync(group: ClassicGroup, step: Step, ticket: Ticket, request: SyncGroupRequest) -> None:
    """Answer, or keep the ticket until the assignment is there."""
    code = _refuse_sync(group, request)
    if code is not ErrorCode.NONE:
        refuse_sync(step, ticket, code)
        return
    member = group.members[request.member_id]
    synced(group, step, member)
    if group.state is not COMPLETING:
        give_assignment(group, step, ticket, member)
        return
    if member.syncing is not None:
        # it asks twice: only the later one is given an assignment
        refuse_sync(step, member.syncing, ErrorCode.REBALANCE_IN_PROGRESS)
    member.syncing = ticket
    if request.member_id == group.leader:
        settled(group, step, {one.member_id: bytes(one.assignment) for one in request.assignments})


def _refuse_sync(group: ClassicGroup, request: SyncGroupRequest) -> ErrorCode:
    code = _refuse(group, request)
    if code is not ErrorCode.NONE:
        return code
    if _differ(request.protocol_type, group.protocol_type) or _differ(
        request.protocol_name, group.protocol
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if group.state is EMPTY:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return ErrorCode.REBALANCE_IN_PROGRESS if group.state is PREPARING else ErrorCode.NONE


def heartbeat(group: ClassicGroup, step: Step, request: HeartbeatRequest) -> ErrorCode:
    """Whether the member still belongs to the generation."""
    code = _refuse(group, request)
    if code is not ErrorCode.NONE:
        return code
    if group.state is EMPTY:
        return ErrorCode.UNKNOWN_MEMBER_ID
    keep_alive(group, step, group.members[request.member_id])
    return ErrorCode.REBALANCE_IN_PROGRESS if group.state is PREPARING else ErrorCode.NONE


def leave(group: ClassicGroup, step: Step, request: LeaveGroupRequest) -> LeaveGroupResponse:
    """Who goes, one by one; then the others share their work."""
    answers = [
        MemberResponse(
            member_id=one.member_id,
            group_instance_id=one.group_instance_id,
            error_code=_leave_one(group, step, one),
        )
        for one in request.members
    ]
    if any(one.error_code == ErrorCode.NONE for one in answers):
        go_on_without(group, step)
    return LeaveGroupResponse(error_code=ErrorCode.NONE, members=answers)


def leave_nothing(request: LeaveGroupRequest) -> LeaveGroupResponse:
    """There is no such group: nobody in it is known."""
    return LeaveGroupResponse(
        error_code=ErrorCode.NONE,
        members=[
            MemberResponse(
                member_id=one.member_id,
                group_instance_id=one.group_instance_id,
                error_code=ErrorCode.UNKNOWN_MEMBER_ID,
            )
            for one in request.members
        ],
    )


def _leave_one(group: ClassicGroup, step: Step, leaver: MemberIdentity) -> ErrorCode:
    member_id, instance_id = leaver.member_id, leaver.group_instance_id
    if member_id == NO_MEMBER:  # an administrator removes a static member
        member_id = group.instances.get(instance_id, NO_MEMBER) if instance_id is not None else ""
        instance_id = None
    elif member_id in group.expected:
        drop_expected(group, step, member_id)
        return ErrorCode.NONE
    code = group.validate(member_id, instance_id)
    if code is ErrorCode.NONE:
        drop(group, step, group.members[member_id])
    return code


def _refuse(group: ClassicGroup, request: SyncGroupRequest | HeartbeatRequest) -> ErrorCode:
    code = group.validate(request.member_id, request.group_instance_id)
    if code is ErrorCode.NONE and request.generation_id != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    return code


def _differ(said: str | None, known: str | None) -> bool:
    return said is not None and known is not None and said != known
