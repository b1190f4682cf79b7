"""The groups of one partition: which there are, of which kind, and their soft state.

Soft state is made when a group is needed, from what is stored of it, and thrown away when the group changes its kind.

Invariants
  I1  A group that no record speaks of, and nobody waits for, is no group.
  I2  No group has soft state of two kinds.
Not here   what groups do (the coordinator).
"""

from __future__ import annotations

from quire.groups.classic import ClassicGroup
from quire.groups.consumer_group import ConsumerGroup
from quire.groups.foreign import ForeignGroup
from quire.groups.kinds import Group
from quire.groups.stored import Stored


class Directory:
    """See the module."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored
        self.classic: dict[str, ClassicGroup] = {}
        self._consumer: dict[str, ConsumerGroup] = {}

    def find(self, group_id: str) -> Group | None:
        """The group, of whatever kind; None where there is none (I1)."""
        classic = self.classic.get(group_id)
        if classic is not None:
            return classic
        stored = self._stored
        consumer = stored.consumers.get(group_id)
        if consumer is not None:
            group = self._consumer.get(group_id)
            if group is None:
                group = self._consumer[group_id] = ConsumerGroup(group_id)
            group.stored = consumer
            return group
        self._consumer.pop(group_id, None)
        if group_id in stored.foreign:
            return ForeignGroup(group_id, stored.foreign[group_id])
        if not stored.knows(group_id):
            return None
        known = stored.groups.get(group_id)
        if known is None:
            made = ClassicGroup(group_id, _last_commit(stored, group_id))
        else:
            made = ClassicGroup.of(group_id, known)
        return self.put_classic(made)

    def all(self) -> list[Group]:
        """Every group, each once."""
        ids = {**dict.fromkeys(self._stored.group_ids()), **dict.fromkeys(self.classic)}
        return [group for one in ids if (group := self.find(one)) is not None]

    def put_classic(self, group: ClassicGroup) -> ClassicGroup:
        """A group is classic from now on."""
        self._consumer.pop(group.group_id, None)
        self.classic[group.group_id] = group
        return group

    def put_consumer(self, group: ConsumerGroup) -> ConsumerGroup:
        """A group is a consumer group from now on."""
        self.classic.pop(group.group_id, None)
        self._consumer[group.group_id] = group
        return group

    def drop(self, group_id: str) -> None:
        """A group is gone."""
        self.classic.pop(group_id, None)
        self._consumer.pop(group_id, None)

    def check(self) -> None:
        """Assert the invariants."""
        for group_id, classic in self.classic.items():
            assert group_id not in self._consumer, "groups.directory I2"
            assert classic.group_id == group_id
            classic.check()
        for group_id, consumer in self._consumer.items():
            assert consumer.group_id == group_id
            consumer.check()


def _last_commit(stored: Stored, group_id: str) -> int:
    """When a group that was never written was last committed to: it has no state of its own."""
    topics = stored.offsets.get(group_id, {})
    return max(
        (one.commit_timestamp for topic in topics.values() for one in topic.values()), default=0
    )
