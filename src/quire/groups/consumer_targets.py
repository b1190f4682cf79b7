"""What a consumer group's members shall read: patterns, the group's epoch, and the target assignment.

    bring_up_to_date   patterns anew when topics have come or gone; the epoch one higher when subscriptions or the
                       topics that are read have changed
    make_target        the assignor shares the partitions out, not more often than the interval allows

The metadata hash is a hash of the ids and sizes of the topics that are read. It is not the one that Kafka computes:
whoever takes a group over from the other finds it changed once, and makes one more epoch.

Invariants
  I1  The epoch grows, and with it every target.
  I2  No topics hash to 0.
Not here   how members get there (consumer_reconciling), how partitions are shared out (quire.assignors).
See        KIP-848, KIP-1263 (the interval)
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from quire.assignors.subscriptions import Subscriber
from quire.assignors.table import ASSIGNORS
from quire.groups.consumer_draft import Draft
from quire.groups.consumer_patterns import matching
from quire.groups.consumer_stored import NO_TARGET, ConsumerStored
from quire.groups.consumer_values import Matched, Partitions, Wishes
from quire.groups.step import Step
from quire.metadata.image import Image

NO_TOPICS_HASH: Final = 0


def metadata_hash(topics: dict[str, None], image: Image) -> int:
    """A stable number for the topics of these names, as they are now (I2)."""
    found = sorted(
        (topic.topic_id, len(topic.partitions))
        for name in topics
        if (topic := image.topics.get(name)) is not None
    )
    if not found:
        return NO_TOPICS_HASH
    digest = blake2b(digest_size=8)
    for topic_id, count in found:
        digest.update(topic_id + count.to_bytes(4, "big"))
    return int.from_bytes(digest.digest(), "big", signed=True)


def look_at_patterns(draft: Draft, step: Step) -> bool:
    """See which topics each pattern means now; True when that has changed."""
    image = step.moment.image
    has_changed = False
    for pattern in list(draft.now.readers):
        topics = matching(pattern, image.topics)
        known = draft.now.patterns.get(pattern)
        if known is None or known.topics != topics:
            draft.put_pattern(pattern, Matched(topics, image.offset, step.moment.now_ms))
            has_changed = True
    return has_changed


def drop_unread_patterns(draft: Draft) -> None:
    for pattern in [one for one in draft.now.patterns if one not in draft.now.readers]:
        draft.remove_pattern(pattern)


def bring_up_to_date(draft: Draft, step: Step, *, has_changed: bool) -> None:
    """The next epoch, if subscriptions have changed or the topics that are read are others now."""
    found = metadata_hash(draft.now.subscribed(), step.moment.image)
    if has_changed or found != draft.now.metadata_hash:
        draft.put_epoch(draft.now.epoch + 1, found)


def is_target_due(now: ConsumerStored, now_ms: int, interval_ms: int) -> bool:
    """Whether there shall be a new target, and may be one already."""
    return now.epoch > now.target_epoch and now_ms - now.target_timestamp >= interval_ms


def make_target(draft: Draft, step: Step) -> None:
    """Share the partitions out for the group's present epoch."""
    now, image = draft.now, step.moment.image
    members: dict[str, Subscriber] = {}
    counts: dict[bytes, int] = {}
    shared: dict[tuple[str, ...], frozenset[bytes]] = {}
    for member_id, wishes in now.members.items():
        names = tuple(now.topics_of(wishes))
        topics = shared.get(names)
        if topics is None:
            topics = shared[names] = _ids_of(names, image, counts)
        members[member_id] = Subscriber(topics, now.target(member_id), wishes.instance_id)
    targets = ASSIGNORS[assignor_of(now, step)](members, counts)
    for member_id in members:
        target = targets[member_id]
        if target != now.target(member_id):
            draft.put_target(member_id, target)
    draft.put_target_epoch(now.epoch, step.moment.now_ms)


def _ids_of(names: tuple[str, ...], image: Image, counts: dict[bytes, int]) -> frozenset[bytes]:
    """The topics of these names that there are, and how many partitions they have."""
    found = []
    for name in names:
        topic = image.topics.get(name)
        if topic is not None:
            counts[topic.topic_id] = len(topic.partitions)
            found.append(topic.topic_id)
    return frozenset(found)


def assignor_of(now: ConsumerStored, step: Step) -> str:
    """The one that most members ask for; where none asks, the broker's first."""
    votes: dict[str, int] = {}
    for wishes in now.members.values():
        if wishes.assignor is not None:
            votes[wishes.assignor] = votes.get(wishes.assignor, 0) + 1
    names = step.settings.consumer_assignors
    known = {name: count for name, count in votes.items() if name in names}
    return max(known, key=known.__getitem__) if known else names[0]


def wanted(now: ConsumerStored, wishes: Wishes, image: Image) -> Partitions:
    """A member's target without the topics that it does not subscribe to any more."""
    target = now.target(wishes.member_id)
    if not target:
        return NO_TARGET
    topics = now.topics_of(wishes)
    return {
        topic_id: partitions
        for topic_id, partitions in target.items()
        if image.topic_names.get(topic_id) in topics
    }
