"""How a classic group comes from one generation to the next.

    prepare      everybody shall join anew; the first rebalance of an empty group is delayed, so that many join at once
    complete     who has joined makes the next generation, and is told so; who has not is out
    settled      the leader's assignment is there
    drop         a member is gone: the others shall share its work

Timers       session (one for each member), join (the time to join is over), sync (the time to ask for an assignment)

Invariants
  I1  While a coordinator lives a generation number is used once; only who has joined it is in it.
  I2  A session's timer rings no later than the session ends. A member that shows that it is alive moves the end, not
      the timer: it is set anew when it rings too early.
  I3  Static members that do not join in time stay until their sessions end; others are dropped.
Not here   requests (joining, membership), what a group is (classic).
See        KIP-134, KIP-345, KIP-394
"""

from __future__ import annotations

from typing import Final

from quire.coordination import Ticket
from quire.errors import ErrorCode
from quire.groups.classic import ClassicGroup
from quire.groups.roster import Member
from quire.groups.states import COMPLETING, EMPTY, PREPARING, STABLE
from quire.groups.step import Step
from quire.protocol.messages.join_group import JoinGroupResponse
from quire.protocol.messages.sync_group import SyncGroupResponse

SESSION: Final = "session"
JOIN: Final = "join"
SYNC: Final = "sync"

TimerKey = tuple[str, str, str]
"""Which timer, of which group, and of which member where there is one."""


# --- answers ----------------------------------------------------------------------------------


def tell_joined(
    group: ClassicGroup,
    step: Step,
    ticket: Ticket,
    member: Member,
    *,
    with_members: bool,
    leader: str | None = None,
    skip_assignment: bool = False,
) -> None:
    """A member is in the group's generation."""
    step.answer(
        ticket,
        JoinGroupResponse(
            error_code=ErrorCode.NONE,
            generation_id=group.generation,
            protocol_type=group.protocol_type,
            protocol_name=group.protocol,
            leader=(group.leader if leader is None else leader) or "",
            skip_assignment=skip_assignment,
            member_id=member.member_id,
            members=group.member_list(group.protocol) if with_members else [],
        ),
    )


def refuse_join(step: Step, ticket: Ticket, code: ErrorCode, member_id: str) -> None:
    step.answer(
        ticket,
        JoinGroupResponse(
            error_code=code, protocol_name=None, leader="", member_id=member_id, members=[]
        ),
    )


def refuse_sync(step: Step, ticket: Ticket, code: ErrorCode) -> None:
    step.answer(
        ticket,
        SyncGroupResponse(error_code=code, protocol_type=None, protocol_name=None, assignment=b""),
    )


def give_assignment(group: ClassicGroup, step: Step, ticket: Ticket, member: Member) -> None:
    step.answer(
        ticket,
        SyncGroupResponse(
            error_code=ErrorCode.NONE,
            protocol_type=group.protocol_type,
            protocol_name=group.protocol,
            assignment=member.assignment,
        ),
    )


# --- sessions ---------------------------------------------------------------------------------


def keep_alive(group: ClassicGroup, step: Step, member: Member, for_ms: int | None = None) -> None:
    """A member's session begins anew (I2)."""
    length_ms = member.session_timeout_ms if for_ms is None else for_ms
    deadline_ms = member.deadline_ms = step.moment.elapsed_ms + length_ms
    if member.armed_ms is None or member.armed_ms > deadline_ms:
        member.armed_ms = deadline_ms
        step.timer((SESSION, group.group_id, member.member_id), length_ms)


def _forget_session(group: ClassicGroup, step: Step, member_id: str) -> None:
    step.timer((SESSION, group.group_id, member_id), None)


def on_session_timer(group: ClassicGroup, step: Step, member_id: str) -> None:
    """A session may have ended."""
    if member_id in group.expected:
        group.remove(member_id)
        finish_if_all_joined(group, step)
        return
    member = group.members.get(member_id)
    if member is None:
        return
    member.armed_ms = None
    left_ms = member.deadline_ms - step.moment.elapsed_ms
    if left_ms > 0:
        member.armed_ms = member.deadline_ms
        step.timer((SESSION, group.group_id, member_id), left_ms)
    elif member.is_new or (member.joining is None and member.syncing is None):
        drop(group, step, member)
        go_on_without(group, step)
    # else: it waits for us, and is alive; its session begins when it is answered


# --- members that go --------------------------------------------------------------------------


def drop(group: ClassicGroup, step: Step, member: Member) -> None:
    """A member is gone; whatever it waits for, it is told so."""
    if member.joining is not None:
        refuse_join(step, member.joining, ErrorCode.UNKNOWN_MEMBER_ID, "")
    if member.syncing is not None:
        refuse_sync(step, member.syncing, ErrorCode.UNKNOWN_MEMBER_ID)
        member.syncing = None
    group.remove(member.member_id)
    _forget_session(group, step, member.member_id)


def drop_expected(group: ClassicGroup, step: Step, member_id: str) -> None:
    """Somebody who was given a member id will not join."""
    group.remove(member_id)
    _forget_session(group, step, member_id)


def go_on_without(group: ClassicGroup, step: Step) -> None:
    """Members are gone: the others shall share their work."""
    if group.state is STABLE or group.state is COMPLETING:
        prepare(group, step)
    else:
        finish_if_all_joined(group, step)


# --- the rebalance ----------------------------------------------------------------------------


def prepare_or_finish(group: ClassicGroup, step: Step) -> None:
    """Somebody has joined, or changed."""
    if group.state is PREPARING:
        finish_if_all_joined(group, step)
    else:
        prepare(group, step)


def prepare(group: ClassicGroup, step: Step) -> None:
    """Everybody shall join anew."""
    now_ms = step.moment.now_ms
    if group.state is COMPLETING:
        for member in group.members.values():
            member.assignment = b""
            if member.syncing is not None:
                refuse_sync(step, member.syncing, ErrorCode.REBALANCE_IN_PROGRESS)
                member.syncing = None
    group.unsynced.clear()
    step.timer((SYNC, group.group_id, ""), None)
    is_first = group.state is EMPTY
    group.become(PREPARING, now_ms)
    if is_first:
        group.has_newcomers = False
        group.delay_ms = step.settings.initial_rebalance_delay_ms
        group.delay_left_ms = max(group.rebalance_timeout_ms - group.delay_ms, 0)
        step.timer((JOIN, group.group_id, ""), group.delay_ms)
    elif group.has_all_joined:
        complete(group, step)
    else:
        step.timer((JOIN, group.group_id, ""), group.rebalance_timeout_ms)


def finish_if_all_joined(group: ClassicGroup, step: Step) -> None:
    """Go on when nobody is missing; the first rebalance takes its time in any case."""
    if group.state is PREPARING and group.came_from is not EMPTY and group.has_all_joined:
        complete(group, step)


def on_join_timer(group: ClassicGroup, step: Step) -> None:
    """The time to join is over, or the first rebalance has been delayed enough."""
    if group.state is not PREPARING:
        return
    if group.came_from is EMPTY and group.has_newcomers and group.delay_left_ms:
        group.has_newcomers = False
        delay_ms = group.delay_ms
        group.delay_ms = min(step.settings.initial_rebalance_delay_ms, group.delay_left_ms)
        group.delay_left_ms = max(group.delay_left_ms - delay_ms, 0)
        step.timer((JOIN, group.group_id, ""), group.delay_ms)
        return
    complete(group, step)


def complete(group: ClassicGroup, step: Step) -> None:
    """Who has joined makes the next generation (I1, I3)."""
    step.timer((JOIN, group.group_id, ""), None)
    late = [one for one in group.members.values() if one.joining is None]
    for member in late:
        if member.instance_id is None:
            drop(group, step, member)
    if group.members and not group.elect_leader():
        # only static members, and none of them has come: wait until their sessions end
        step.timer((JOIN, group.group_id, ""), group.rebalance_timeout_ms)
        return
    group.generation += 1
    group.unsynced.clear()
    if not group.members:
        group.protocol = group.leader = None
        group.become(EMPTY, step.moment.now_ms)
        step.records.append(group.record())
        return
    group.protocol = group.choose_protocol()
    group.become(COMPLETING, step.moment.now_ms)
    for member in group.members.values():
        if member.joining is not None:
            is_leader = member.member_id == group.leader
            tell_joined(group, step, member.joining, member, with_members=is_leader)
            group.set_joining(member, None)
        keep_alive(group, step, member)
        member.is_new = False
        group.unsynced[member.member_id] = None
    step.timer((SYNC, group.group_id, ""), group.rebalance_timeout_ms)


def settled(group: ClassicGroup, step: Step, assignments: dict[str, bytes]) -> None:
    """The leader's assignment is there: it is written, and given to everybody who waits."""
    for member in group.members.values():
        member.assignment = assignments.get(member.member_id, b"")
    step.records.append(group.record())
    group.become(STABLE, step.moment.now_ms)
    for member in group.members.values():
        if member.syncing is not None:
            give_assignment(group, step, member.syncing, member)
            member.syncing = None
            keep_alive(group, step, member)


def synced(group: ClassicGroup, step: Step, member: Member) -> None:
    """A member has asked for its assignment."""
    if group.unsynced.pop(member.member_id, group) is None and not group.unsynced:
        step.timer((SYNC, group.group_id, ""), None)


def on_sync_timer(group: ClassicGroup, step: Step) -> None:
    """Who has not asked for an assignment by now is dropped."""
    if group.state not in (COMPLETING, STABLE) or not group.unsynced:
        return
    for member_id in list(group.unsynced):
        member = group.members.get(member_id)
        if member is not None:
            drop(group, step, member)
    group.unsynced.clear()
    prepare_or_finish(group, step)
