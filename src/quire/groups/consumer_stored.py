"""Hard state of one consumer group: the fold of its records, and what follows from it.

A command makes a draft of it (consumer_draft); only records change the group itself.

Invariants
  I1  No partition is held by two members, be it that one has to give it back.
  I2  `owners`, `instances` and `readers` follow from `members` and `holdings`.
Not here   timers, sessions (consumer_group).
See        KIP-848
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from quire.groups import consumer_records as records
from quire.groups.consumer_states import STABLE, ConsumerGroupState
from quire.groups.consumer_values import (
    NO_PATTERN,
    NOTHING,
    Holding,
    Matched,
    Partitions,
    Wishes,
)

FIRST_EPOCH: Final = 1
"""Of a group about which nothing is written yet."""
NO_TARGET: Final[Partitions] = {}


class ConsumerStored:
    """See the module."""

    __slots__ = (
        "epoch", "holdings", "instances", "members", "metadata_hash",
        "owners", "patterns", "readers", "target_epoch", "target_timestamp", "targets",
        "unsettled",
    )  # fmt: skip

    def __init__(self) -> None:
        self.epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.target_epoch = FIRST_EPOCH
        self.target_timestamp = 0
        self.members: dict[str, Wishes] = {}
        self.targets: dict[str, Partitions] = {}
        self.holdings: dict[str, Holding] = {}
        self.patterns: dict[str, Matched] = {}
        self.owners: dict[tuple[bytes, int], str] = {}
        self.instances: dict[str, str] = {}
        """The member ids of static members."""
        self.readers: dict[str, int] = {}
        """By pattern, how many members use it."""
        self.unsettled: dict[str, None] = {}
        """Members that are not STABLE; those in another epoch than the target's are not all here."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConsumerStored) and all(
            getattr(self, name) == getattr(other, name) for name in self.__slots__
        )

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> ConsumerStored:
        """The same, to be changed."""
        twin = ConsumerStored()
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(twin, name, dict(value) if isinstance(value, dict) else value)
        return twin

    # --- questions ----------------------------------------------------------------------------

    def holding(self, member_id: str) -> Holding:
        return self.holdings.get(member_id, NOTHING)

    def target(self, member_id: str) -> Partitions:
        return self.targets.get(member_id, NO_TARGET)

    def is_settled(self, member_id: str) -> bool:
        """Whether a member has what it shall have."""
        holding = self.holding(member_id)
        return holding.state is STABLE and holding.epoch == self.target_epoch

    @property
    def state(self) -> ConsumerGroupState:
        if not self.members:
            return ConsumerGroupState.EMPTY
        if self.epoch > self.target_epoch:
            return ConsumerGroupState.ASSIGNING
        if self.unsettled or not all(map(self.is_settled, self.members)):
            return ConsumerGroupState.RECONCILING
        return ConsumerGroupState.STABLE

    def topics_of(self, wishes: Wishes) -> dict[str, None]:
        """The names of what a member subscribes to, patterns included."""
        topics = dict.fromkeys(wishes.topics)
        if wishes.pattern != NO_PATTERN:
            matched = self.patterns.get(wishes.pattern)
            if matched is not None:
                topics.update(dict.fromkeys(matched.topics))
        return topics

    def subscribed(self) -> dict[str, None]:
        """What anybody subscribes to."""
        topics: dict[str, None] = {}
        for wishes in self.members.values():
            topics.update(self.topics_of(wishes))
        return topics

    # --- changes ------------------------------------------------------------------------------

    def put_epoch(self, epoch: int, metadata_hash: int) -> None:
        self.epoch, self.metadata_hash = epoch, metadata_hash

    def put_member(self, wishes: Wishes) -> None:
        self._forget(wishes.member_id)
        self.members[wishes.member_id] = wishes
        if wishes.instance_id is not None:
            self.instances[wishes.instance_id] = wishes.member_id
        if wishes.pattern != NO_PATTERN:
            self.readers[wishes.pattern] = self.readers.get(wishes.pattern, 0) + 1

    def remove_member(self, member_id: str) -> None:
        self._forget(member_id)
        self.members.pop(member_id, None)

    def put_target(self, member_id: str, target: Partitions) -> None:
        self.targets[member_id] = target

    def put_holding(self, member_id: str, holding: Holding | None) -> None:
        for place in self.holding(member_id).places():
            if self.owners.get(place) == member_id:
                del self.owners[place]
        self.unsettled.pop(member_id, None)
        if holding is None:
            self.holdings.pop(member_id, None)
            return
        self.holdings[member_id] = holding
        if holding.state is not STABLE:
            self.unsettled[member_id] = None
        for place in holding.places():
            self.owners[place] = member_id

    def _forget(self, member_id: str) -> None:
        """What follows from a member's wishes (I2)."""
        wishes = self.members.get(member_id)
        if wishes is None:
            return
        instance_id, pattern = wishes.instance_id, wishes.pattern
        if instance_id is not None and self.instances.get(instance_id) == member_id:
            del self.instances[instance_id]
        if pattern != NO_PATTERN:
            self.readers[pattern] -= 1
            if not self.readers[pattern]:
                del self.readers[pattern]

    # --- records ------------------------------------------------------------------------------

    def replay(self, kind: int, key: bytes, value: bytes | None) -> None:
        """Take in one record, but for the end of the group itself."""
        _REPLAY[kind](self, key, value)

    def check(self) -> None:
        """Assert the invariants."""
        owners: dict[tuple[bytes, int], str] = {}
        for member_id, holding in self.holdings.items():
            for place in holding.places():
                assert place not in owners, f"groups.consumer_stored I1: {place}"
                owners[place] = member_id
        assert owners == self.owners, "groups.consumer_stored I2: owners"
        readers: dict[str, int] = {}
        for wishes in self.members.values():
            if wishes.pattern != NO_PATTERN:
                readers[wishes.pattern] = readers.get(wishes.pattern, 0) + 1
        assert readers == self.readers, "groups.consumer_stored I2: readers"
        for instance_id, member_id in self.instances.items():
            assert self.members[member_id].instance_id == instance_id


def _replay_epoch(group: ConsumerStored, _key: bytes, value: bytes | None) -> None:
    if value is not None:
        group.put_epoch(*records.read_epoch(value))


def _replay_metadata(_group: ConsumerStored, _key: bytes, _value: bytes | None) -> None:
    """It says nothing that is needed any more."""


def _replay_member(group: ConsumerStored, key: bytes, value: bytes | None) -> None:
    member_id = records.name_of(key)
    if value is None:
        group.remove_member(member_id)
    else:
        group.put_member(records.read_member(member_id, value))


def _replay_target_epoch(group: ConsumerStored, _key: bytes, value: bytes | None) -> None:
    epoch, timestamp = (FIRST_EPOCH, 0) if value is None else records.read_target_epoch(value)
    group.target_epoch, group.target_timestamp = epoch, timestamp


def _replay_target(group: ConsumerStored, key: bytes, value: bytes | None) -> None:
    member_id = records.name_of(key)
    if value is None:
        group.targets.pop(member_id, None)
    else:
        group.put_target(member_id, records.read_target(value))


def _replay_current(group: ConsumerStored, key: bytes, value: bytes | None) -> None:
    holding = None if value is None else records.read_current(value)
    group.put_holding(records.name_of(key), holding)


def _replay_pattern(group: ConsumerStored, key: bytes, value: bytes | None) -> None:
    pattern = records.name_of(key)
    if value is None:
        group.patterns.pop(pattern, None)
    else:
        group.patterns[pattern] = records.read_pattern(value)


_REPLAY: Final[Mapping[int, Callable[[ConsumerStored, bytes, bytes | None], None]]] = {
    records.GROUP_EPOCH: _replay_epoch,
    records.PARTITION_METADATA: _replay_metadata,
    records.MEMBER: _replay_member,
    records.TARGET_EPOCH: _replay_target_epoch,
    records.TARGET: _replay_target,
    records.CURRENT: _replay_current,
    records.PATTERN: _replay_pattern,
}
