"""ConsumerGroupHeartbeat: a member joins, shows that it is alive, says what it owns, and learns what it shall own.

    who        a new member, a known one, or a static one that comes back under another id
    wishes     what has changed of its subscription; the group's next epoch when that matters
    target     made anew when the group's epoch is ahead of it
    holding    the member's next step towards the target (consumer_reconciling)

Invariants
  I1  Nobody but a member in its own epoch goes on; who has missed one answer may repeat itself, as long as it owns no
      more than it was given then.
  I2  A refused request changes nothing.
Versions   1 patterns; member ids are made by clients
Not here   leaving (consumer_leaving), members of the classic protocol (consumer_classic).
See        KIP-848, KIP-1082 (member ids)
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Final, NamedTuple

from quire.coordination import Caller
from quire.errors import ErrorCode
from quire.groups.consumer_draft import Draft
from quire.groups.consumer_group import ConsumerGroup
from quire.groups.consumer_patterns import compiled
from quire.groups.consumer_reconciling import Goal, Owned, reconcile
from quire.groups.consumer_sessions import REVOCATION
from quire.groups.consumer_states import UNREVOKED
from quire.groups.consumer_targets import (
    bring_up_to_date,
    drop_unread_patterns,
    is_target_due,
    look_at_patterns,
    make_target,
    wanted,
)
from quire.groups.consumer_values import (
    AWAY,
    JOINING,
    NOTHING,
    Holding,
    Wishes,
    partitions_of,
)
from quire.groups.step import Step
from quire.protocol.messages import consumer_group_heartbeat as heartbeating

OWN_IDS_SINCE: Final = 1
UNCHANGED: Final = -1
Request = heartbeating.ConsumerGroupHeartbeatRequest
Response = heartbeating.ConsumerGroupHeartbeatResponse


class Refusal(NamedTuple):
    """Why not, in a code and a sentence."""

    code: ErrorCode
    reason: str = ""

    def response(self) -> Response:
        return Response(
            throttle_time_ms=0,
            error_code=self.code,
            error_message=self.reason or None,
            member_epoch=0,
            heartbeat_interval_ms=0,
        )


# --- requests that nobody may make -------------------------------------------------------------


def refuse_invalid(request: Request, version: int, assignors: tuple[str, ...]) -> Refusal | None:
    """Why nobody may ask like that, whatever the group."""
    epoch = request.member_epoch
    reason = _empty_field(request)
    if not reason and not request.member_id and (version >= OWN_IDS_SINCE or epoch != JOINING):
        reason = "MemberId can't be empty."
    if not reason and epoch == JOINING:
        reason = _invalid_join(request)
    if not reason and epoch == AWAY and request.instance_id is None:
        reason = "InstanceId can't be null."
    if not reason and epoch < AWAY:
        reason = "MemberEpoch is invalid."
    if reason:
        return Refusal(ErrorCode.INVALID_REQUEST, reason)
    name = request.server_assignor
    if name is not None and name not in assignors:
        known = ", ".join(assignors)
        reason = f"ServerAssignor {name} is not supported. Supported assignors: {known}."
        return Refusal(ErrorCode.UNSUPPORTED_ASSIGNOR, reason)
    pattern = request.subscribed_topic_regex
    if pattern and compiled(pattern) is None:
        reason = f"SubscribedTopicRegex `{pattern}` is not a valid regular expression."
        return Refusal(ErrorCode.INVALID_REGULAR_EXPRESSION, reason)
    return None


def _empty_field(request: Request) -> str:
    if not request.group_id:
        return "GroupId can't be empty."
    if request.instance_id == "":
        return "InstanceId can't be empty."
    return "RackId can't be empty." if request.rack_id == "" else ""


def _invalid_join(request: Request) -> str:
    if request.rebalance_timeout_ms == UNCHANGED:
        return "RebalanceTimeoutMs must be provided in first request."
    if request.topic_partitions is None or request.topic_partitions:
        return "TopicPartitions must be empty when (re-)joining."
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        return (
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null "
            "when (re-)joining."
        )
    return ""


# --- the walk ---------------------------------------------------------------------------------


def heartbeat(
    group: ConsumerGroup, draft: Draft, step: Step, request: Request, caller: Caller
) -> Response:
    """Decide a valid request of somebody who does not leave."""
    timing = step.settings.timing_of(group.group_id, step.moment.image)
    member_id = request.member_id or _new_id(step)
    owned = owned_of(request)
    refusal = _refuse(draft, step, request, member_id, owned)
    if refusal is not None:
        return refusal.response()
    before = take_place(group, draft, step, request.instance_id, member_id)
    wishes = _merged(before or Wishes(member_id), request, caller)
    held = draft.now.holding(member_id)
    follow(group, draft, step, before, wishes)
    holding = advance(group, draft, step, wishes, owned)
    group.sessions.keep_alive(step, member_id, timing.session_ms)
    is_whole = (
        request.topic_partitions is not None
        and request.rebalance_timeout_ms != UNCHANGED
        and (
            request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
        )
    )
    is_news = partitions_of(held.assigned) != partitions_of(holding.assigned)
    return Response(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        member_id=member_id,
        member_epoch=holding.epoch,
        heartbeat_interval_ms=timing.heartbeat_ms,
        assignment=_told(holding) if is_whole or is_news else None,
    )


def follow(
    group: ConsumerGroup, draft: Draft, step: Step, before: Wishes | None, wishes: Wishes
) -> None:
    """Take in what a member wants now: subscriptions, the epoch, the target."""
    image = step.moment.image
    former = before or Wishes(wishes.member_id)
    if before != wishes:
        draft.put_member(wishes)
    has_changed = former.topics != wishes.topics or former.pattern != wishes.pattern
    drop_unread_patterns(draft)
    if has_changed or group.seen[1] is not image.topic_names:
        has_changed |= look_at_patterns(draft, step)
    if has_changed or group.seen[0] is not image.topics:
        bring_up_to_date(draft, step, has_changed=has_changed)
        group.seen = image.topics, image.topic_names
    interval_ms = step.settings.timing_of(group.group_id, image).assignment_interval_ms
    if is_target_due(draft.now, step.moment.now_ms, interval_ms):
        make_target(draft, step)


def advance(
    group: ConsumerGroup, draft: Draft, step: Step, wishes: Wishes, owned: Owned
) -> Holding:
    """The member's next step, and the time that it has for it."""
    member_id, now = wishes.member_id, draft.now
    holding = now.holdings.get(member_id, NOTHING)
    goal = Goal(
        now.target_epoch,
        wanted(now, wishes, step.moment.image),
        lambda topic_id, partition: (
            (topic_id, partition) in now.owners and now.owners[topic_id, partition] != member_id
        ),
    )
    following = reconcile(holding, goal, owned)
    if following != holding or member_id not in now.holdings:
        draft.put_holding(member_id, following)
    if following != holding:
        group.sessions.fulfil(step, REVOCATION, member_id)  # what comes next has its own time
    if following.state is UNREVOKED:
        group.sessions.expect(
            step, REVOCATION, member_id, following.epoch, wishes.rebalance_timeout_ms
        )
    return following


# --- who --------------------------------------------------------------------------------------


def is_full(draft: Draft, step: Step, member_id: str) -> bool:
    members = draft.now.members
    return member_id not in members and len(members) >= step.settings.consumer_group_size_max


def full(step: Step) -> Refusal:
    most = step.settings.consumer_group_size_max
    return Refusal(
        ErrorCode.GROUP_MAX_SIZE_REACHED,
        f"The consumer group has reached its maximum capacity of {most} members.",
    )


def _refuse(
    draft: Draft, step: Step, request: Request, member_id: str, owned: Owned
) -> Refusal | None:
    """Why this member may not go on (I1)."""
    now, epoch = draft.now, request.member_epoch
    if epoch == JOINING and is_full(draft, step, member_id):
        returns = request.instance_id is not None and request.instance_id in now.instances
        if not returns:
            return full(step)
    if request.instance_id is not None:
        refusal = refuse_instance(
            draft, request.instance_id, member_id, is_joining=epoch == JOINING
        )
        if refusal is not None:
            return refusal
    if epoch == JOINING:
        return None
    if member_id not in now.members:
        return unknown_member(draft.group_id, member_id)
    return _refuse_epoch(now.holding(member_id), epoch, owned)


def unknown_member(group_id: str, member_id: str) -> Refusal:
    return Refusal(
        ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {group_id}."
    )


def unreleased(instance_id: str, member_id: str, known: str) -> Refusal:
    return Refusal(
        ErrorCode.UNRELEASED_INSTANCE_ID,
        f"Static member {member_id} with instance id {instance_id} cannot join the group because "
        f"the instance id is owned by {known} member.",
    )


def refuse_instance(
    draft: Draft, instance_id: str, member_id: str, *, is_joining: bool
) -> Refusal | None:
    """Why somebody may not be this static member."""
    known = draft.now.instances.get(instance_id)
    if is_joining:
        if known is None or draft.now.holding(known).epoch == AWAY:
            return None
        if draft.now.members[known].classic is not None:
            return None  # its client has been restarted with the new protocol
        return unreleased(instance_id, member_id, known)
    if known is None:
        return Refusal(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    if known == member_id:
        return None
    return Refusal(
        ErrorCode.FENCED_INSTANCE_ID,
        f"Static member {member_id} with instance id {instance_id} was fenced by member {known}.",
    )


def _refuse_epoch(holding: Holding, epoch: int, owned: Owned) -> Refusal | None:
    if epoch == holding.epoch:
        return None
    compared = "greater" if epoch > holding.epoch else "smaller"
    if compared == "smaller" and epoch == holding.previous_epoch and _is_part(owned, holding):
        return None
    return Refusal(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a {compared} member epoch ({epoch}) than the one known by "
        f"the group coordinator ({holding.epoch}). The member must abandon all its partitions and "
        "rejoin.",
    )


def _is_part(owned: Owned, holding: Holding) -> bool:
    """Whether a member owns nothing but what it was given."""
    if owned is None:
        return False
    return all(
        partition in holding.assigned.get(topic_id, {})
        for topic_id, partitions in owned.items()
        for partition in partitions
    )


def take_place(
    group: ConsumerGroup, draft: Draft, step: Step, instance_id: str | None, member_id: str
) -> Wishes | None:
    """The member as it is known; a static one that comes back takes the place of its former self."""
    now = draft.now
    former_id = None if instance_id is None else now.instances.get(instance_id)
    is_away = former_id is not None and now.holding(former_id).epoch == AWAY
    if former_id is None or not (is_away or former_id != member_id):
        return now.members.get(member_id)
    wishes = now.members[former_id]._replace(member_id=member_id)
    target, holding = now.target(former_id), now.holding(former_id)
    draft.remove_member(former_id)
    group.sessions.forget(step, former_id)
    draft.put_member(wishes)
    draft.put_target(member_id, target)
    draft.put_holding(member_id, holding._replace(epoch=JOINING, previous_epoch=JOINING))
    return wishes


def _merged(before: Wishes, request: Request, caller: Caller) -> Wishes:
    """What a member wants, with what it has changed."""
    names, pattern = request.subscribed_topic_names, request.subscribed_topic_regex
    timeout_ms = request.rebalance_timeout_ms
    return Wishes(
        before.member_id,
        before.instance_id if request.instance_id is None else request.instance_id,
        before.rack_id if request.rack_id is None else request.rack_id,
        caller.client_id,
        caller.host,
        before.topics if names is None else tuple(sorted({*names})),
        before.pattern if pattern is None else pattern,
        before.rebalance_timeout_ms if timeout_ms == UNCHANGED else timeout_ms,
        before.assignor if request.server_assignor is None else request.server_assignor,
    )


def owned_of(request: Request) -> Owned:
    """What the member says that it owns."""
    if request.topic_partitions is None:
        return None
    return {one.topic_id: frozenset(one.partitions) for one in request.topic_partitions}


def _told(holding: Holding) -> heartbeating.Assignment:
    return heartbeating.Assignment(
        topic_partitions=[
            heartbeating.ConsumerGroupHeartbeatResponseTopicPartitions(
                topic_id=topic_id, partitions=list(partitions)
            )
            for topic_id, partitions in partitions_of(holding.assigned).items()
        ]
    )


def _new_id(step: Step) -> str:
    """A random id as Java writes it: version 4, in base64."""
    drawn = bytearray(step.draw(16))
    drawn[6] = drawn[6] & 0x0F | 0x40
    drawn[8] = drawn[8] & 0x3F | 0x80
    return urlsafe_b64encode(drawn).decode().rstrip("=")
