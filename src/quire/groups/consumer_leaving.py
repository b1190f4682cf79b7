"""How members of a consumer group go: by themselves, for a while, or because they are taken for dead.

    leave       epoch -1: the member goes for good; its partitions are free at once
    go away     epoch -2, static members only: it may come back in its session's time, and finds everything as it was
    fence       its session has ended, or it did not in time what it was told to do

Invariants
  I1  Whoever goes takes everything with it that is written of it; the group's epoch grows.
Not here   the last member of the new protocol, whose going turns the group classic (migration).
See        KIP-345, KIP-848
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.groups.consumer_draft import Draft
from quire.groups.consumer_group import ConsumerGroup
from quire.groups.consumer_heartbeat import (
    Refusal,
    Request,
    Response,
    refuse_instance,
    unknown_member,
)
from quire.groups.consumer_sessions import REVOCATION, SESSION
from quire.groups.consumer_targets import bring_up_to_date, drop_unread_patterns
from quire.groups.consumer_values import AWAY, Holding
from quire.groups.step import Step


def refuse_leave(draft: Draft, request: Request) -> Refusal | None:
    """Why somebody may not go."""
    if request.instance_id is not None:
        return refuse_instance(draft, request.instance_id, request.member_id, is_joining=False)
    if request.member_id not in draft.now.members:
        return unknown_member(draft.group_id, request.member_id)
    return None


def left(request: Request) -> Response:
    """The answer to who has gone."""
    return Response(
        throttle_time_ms=0,
        error_code=0,
        member_id=request.member_id,
        member_epoch=request.member_epoch,
        heartbeat_interval_ms=0,
    )


def go_away(draft: Draft, member_id: str) -> None:
    """A static member may come back: what it holds stays with it, given in no particular epoch."""
    holding = draft.now.holding(member_id)
    assigned = {
        topic_id: dict.fromkeys(partitions, 0) for topic_id, partitions in holding.assigned.items()
    }
    draft.put_holding(
        member_id, Holding(AWAY, holding.previous_epoch, holding.state, assigned, revoking={})
    )


def remove(group: ConsumerGroup, draft: Draft, step: Step, member_ids: Sequence[str]) -> None:
    """Members go for good (I1)."""
    for member_id in member_ids:
        draft.remove_member(member_id)
        group.sessions.forget(step, member_id)
    drop_unread_patterns(draft)
    bring_up_to_date(draft, step, has_changed=True)


def whom_to_fence(group: ConsumerGroup, step: Step, kind: str, member_id: str) -> bool:
    """Whether a timer that has rung ends a membership."""
    stored = group.stored
    if kind == SESSION:
        return group.sessions.has_ended(step, member_id) and member_id in stored.members
    epoch = group.sessions.expected_epoch(kind, member_id)
    return epoch is not None and stored.holding(member_id).epoch == epoch


def watch(group: ConsumerGroup, step: Step) -> None:
    """A group has just been loaded: everybody is taken for alive, and has all the time that there is."""
    timing = step.settings.timing_of(group.group_id, step.moment.image)
    stored = group.stored
    for member_id, wishes in stored.members.items():
        classic = wishes.classic
        length_ms = timing.session_ms if classic is None else classic.session_timeout_ms
        group.sessions.keep_alive(step, member_id, length_ms)
        holding = stored.holding(member_id)
        if holding.revoking:
            group.sessions.expect(
                step, REVOCATION, member_id, holding.epoch, wishes.rebalance_timeout_ms
            )
