"""ConsumerGroupDescribe: a consumer group as administrators see it.

Versions   1 of each member, which protocol it speaks (KIP-1099)
See        KIP-848
"""

from __future__ import annotations

from typing import Final, NamedTuple

from quire.errors import ErrorCode
from quire.groups.consumer_group import ConsumerGroup
from quire.groups.consumer_targets import assignor_of
from quire.groups.consumer_values import Holding, Partitions, Wishes
from quire.groups.kinds import Group
from quire.groups.step import Step
from quire.metadata.image import Image
from quire.protocol.messages import consumer_group_describe as describing

CLASSIC_MEMBER: Final = 0
CONSUMER_MEMBER: Final = 1


class DescribeConsumerGroup(NamedTuple):
    """What is a consumer group like?"""

    group_id: str


def describe_consumer_group(
    group_id: str, group: Group | None, step: Step
) -> describing.DescribedGroup:
    """The group in detail; any other kind is as good as none."""
    if not isinstance(group, ConsumerGroup):
        missing = group is None
        reason = f"Group {group_id} not found."
        if not missing:
            reason = f"Group {group_id} is not a consumer group."
        return undescribed(group_id, ErrorCode.GROUP_ID_NOT_FOUND, reason)
    stored = group.stored
    return describing.DescribedGroup(
        error_code=ErrorCode.NONE,
        group_id=group_id,
        group_state=stored.state.value,
        group_epoch=stored.epoch,
        assignment_epoch=stored.target_epoch,
        assignor_name=assignor_of(stored, step),
        members=[_member(group, one, step.moment.image) for one in stored.members.values()],
    )


def undescribed(
    group_id: str, code: ErrorCode, reason: str | None = None
) -> describing.DescribedGroup:
    """Why it cannot be told."""
    return describing.DescribedGroup(
        error_code=code,
        error_message=reason,
        group_id=group_id,
        group_state="",
        group_epoch=0,
        assignment_epoch=0,
        assignor_name="",
        members=[],
    )


def _member(group: ConsumerGroup, wishes: Wishes, image: Image) -> describing.Member:
    stored, member_id = group.stored, wishes.member_id
    holding = stored.holding(member_id)
    return describing.Member(
        member_id=member_id,
        instance_id=wishes.instance_id,
        rack_id=wishes.rack_id,
        member_epoch=holding.epoch,
        client_id=wishes.client_id,
        client_host=wishes.client_host,
        subscribed_topic_names=list(wishes.topics),
        subscribed_topic_regex=wishes.pattern,
        assignment=_named(_everything(holding), image),
        target_assignment=_named(stored.target(member_id), image),
        member_type=CONSUMER_MEMBER if wishes.classic is None else CLASSIC_MEMBER,
    )


def _everything(holding: Holding) -> Partitions:
    """Also what it still has to give back."""
    found: dict[bytes, list[int]] = {}
    for topic_id, partition in holding.places():
        found.setdefault(topic_id, []).append(partition)
    return {topic_id: tuple(sorted(partitions)) for topic_id, partitions in found.items()}


def _named(partitions: Partitions, image: Image) -> describing.Assignment:
    """Topics that are gone are left out."""
    return describing.Assignment(
        topic_partitions=[
            describing.TopicPartitions(
                topic_id=topic_id, topic_name=image.topic_names[topic_id], partitions=list(numbers)
            )
            for topic_id, numbers in partitions.items()
            if topic_id in image.topic_names
        ]
    )
