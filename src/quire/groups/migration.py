"""A group changes its protocol while it has members: from classic to the new one, and back.

    upgrade     a member of the new protocol joins a classic group of consumers: everybody is carried over with what it
                was assigned, and its generation is its epoch; the classic members are served on
    downgrade   the last member of the new protocol goes: the others are a classic group again, and join anew

Which of the two there may be is a setting of the broker. A group without members changes whatever the setting says.

Invariants
  I1  A group is of one kind at a time: the records of the other are taken away in the same batch.
  I2  Nobody holds a partition after the change that somebody else held before it.
Not here   how classic members are served meanwhile (consumer_classic).
See        KIP-848 ("Upgrading the cluster")
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.errors import ErrorCode
from quire.groups import rebalance
from quire.groups.classic import CONSUMER_PROTOCOL, ClassicGroup
from quire.groups.consumer_classic import assignment_of, read_assignment, read_subscription
from quire.groups.consumer_draft import Draft, tombstones
from quire.groups.consumer_group import ConsumerGroup
from quire.groups.consumer_states import ConsumerGroupState
from quire.groups.consumer_stored import FIRST_EPOCH, ConsumerStored
from quire.groups.consumer_targets import metadata_hash
from quire.groups.consumer_values import (
    NO_PATTERN,
    ClassicSide,
    Held,
    Holding,
    Wishes,
    partitions_of,
)
from quire.groups.rebalance import JOIN, SESSION, SYNC
from quire.groups.roster import Member
from quire.groups.states import STABLE
from quire.groups.step import Step
from quire.metadata.image import Image

Carried = tuple[Wishes, Held]

# --- from classic to the new one ---------------------------------------------------------------


def upgrade(classic: ClassicGroup, group: ConsumerGroup, step: Step) -> Draft | None:
    """The group in its new form, being made; None when that is not possible."""
    carried = _carry_over(classic, step.moment.image)
    has_room = len(classic.members) < step.settings.consumer_group_size_max
    if carried is None or not has_room or not step.settings.migration.upgrades:
        return None
    let_go(classic, step)
    step.records += classic.tombstones()
    draft = Draft(group.group_id, ConsumerStored(), step.records, is_own=True)
    epoch = max(classic.generation, FIRST_EPOCH)
    for wishes, _ in carried:
        draft.put_member(wishes)
    draft.put_epoch(epoch, metadata_hash(draft.now.subscribed(), step.moment.image))
    for wishes, held in carried:
        draft.put_target(wishes.member_id, partitions_of(held))
    draft.put_target_epoch(epoch, 0)
    for wishes, held in carried:
        draft.put_holding(wishes.member_id, Holding(epoch, epoch, assigned=held))
        assert wishes.classic is not None
        group.sessions.keep_alive(step, wishes.member_id, wishes.classic.session_timeout_ms)
    return draft


def let_go(classic: ClassicGroup, step: Step) -> None:
    """Whoever waits shall ask again, and nothing rings any more."""
    group_id = classic.group_id
    for member_id, member in classic.members.items():
        if member.joining is not None:
            rebalance.refuse_join(step, member.joining, ErrorCode.REBALANCE_IN_PROGRESS, member_id)
        if member.syncing is not None:
            rebalance.refuse_sync(step, member.syncing, ErrorCode.REBALANCE_IN_PROGRESS)
    for member_id in (*classic.members, *classic.expected):
        step.timer((SESSION, group_id, member_id), None)
    step.timer((JOIN, group_id, ""), None)
    step.timer((SYNC, group_id, ""), None)


def _carry_over(classic: ClassicGroup, image: Image) -> list[Carried] | None:
    """Every member with what it wants and holds; None when one of them is no consumer."""
    if classic.protocol_type != CONSUMER_PROTOCOL:
        return None
    protocol = classic.protocol or classic.choose_protocol()
    epoch = max(classic.generation, FIRST_EPOCH)
    taken: dict[tuple[bytes, int], None] = {}
    found: list[Carried] = []
    for member in classic.members.values():
        subscription = read_subscription(member.metadata(protocol))
        assigned = read_assignment(member.assignment, image)
        if subscription is None or assigned is None:
            return None
        held: dict[bytes, dict[int, int]] = {}
        for topic_id, partitions in assigned.items():
            for partition in partitions:
                if (topic_id, partition) not in taken:
                    taken[topic_id, partition] = None
                    held.setdefault(topic_id, {})[partition] = epoch
        wishes = Wishes(
            member.member_id,
            member.instance_id,
            subscription.rack_id,
            member.client_id,
            member.client_host,
            tuple(sorted({*subscription.topics})),
            NO_PATTERN,
            member.rebalance_timeout_ms,
            None,
            ClassicSide(member.session_timeout_ms, member.protocols),
        )
        found.append((wishes, held))
    return found


# --- and back ----------------------------------------------------------------------------------


def has_new_protocol(stored: ConsumerStored) -> bool:
    """Whether any member speaks the new protocol."""
    return any(wishes.classic is None for wishes in stored.members.values())


def may_downgrade(stored: ConsumerStored, leaving: Sequence[str], step: Step) -> bool:
    """Whether only classic members are left when these have gone."""
    stay = [wishes for one, wishes in stored.members.items() if one not in leaving]
    return (
        step.settings.migration.downgrades
        and bool(stay)
        and len(stay) <= step.settings.group_size_max
        and all(wishes.classic is not None for wishes in stay)
    )


def downgrade(
    group: ConsumerGroup, stored: ConsumerStored, leaving: Sequence[str], step: Step
) -> ClassicGroup:
    """The group in its old form, without these; everybody shall join anew, where something is to be done."""
    image = step.moment.image
    is_settled = not leaving and stored.state is ConsumerGroupState.STABLE
    step.records += tombstones(group.group_id, stored)
    group.sessions.forget_all(step)
    classic = ClassicGroup(group.group_id, step.moment.now_ms)
    classic.generation = stored.epoch
    classic.protocol_type = CONSUMER_PROTOCOL
    for member_id, wishes in stored.members.items():
        if member_id in leaving:
            continue
        assert wishes.classic is not None
        member = Member(
            member_id,
            instance_id=wishes.instance_id,
            client=(wishes.client_id, wishes.client_host),
            rebalance_timeout_ms=wishes.rebalance_timeout_ms,
            session_timeout_ms=wishes.classic.session_timeout_ms,
            protocols=wishes.classic.protocols,
        )
        member.assignment = assignment_of(wishes, stored.holding(member_id).assigned, image)
        classic.add(member)
        rebalance.keep_alive(classic, step, member)
    classic.protocol = classic.choose_protocol()
    classic.state = STABLE
    step.records.append(classic.record())
    if not is_settled:
        rebalance.prepare(classic, step)
    return classic
