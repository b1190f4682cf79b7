"""What happens to one partition: given what it is and what is wished of it, the one record that says it.

An election keeps the leader it has where it can. Else the first replica, in the order of the
assignment, that is in sync and may lead; else one that is eligible (ELR); else, with nobody left in
either, the last leader that was known; else, where unclean elections are allowed, anybody alive.

Invariants
  I1  The leader named is a replica that may lead, or nobody.
  I2  A leader from outside the in-sync set becomes the whole in-sync set; unless it was eligible it
      must recover, and says so.
  I3  With ELR: who leaves an in-sync set that falls below the minimum becomes eligible, unless it
      lost its disk's tail (unclean shutdown); at the minimum the eligible set is emptied.
  I4  Without ELR an in-sync set never becomes empty.
  I5  Taking a replica away raises the leader epoch, so that the leader notices.
Not here   which partitions a broker's fate touches (partitions), the arithmetic of epochs (metadata.delta).
See        KIP-631, KIP-966 (ELR), KIP-903, KIP-455 (reassignment)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from quire.metadata.delta import UNCHANGED_LEADER
from quire.metadata.features import DIRECTORIES_LEVEL, NO_EPOCH_BUMP_ON_SHRINK_LEVEL
from quire.metadata.image import NO_LEADER, RECOVERING, Partition
from quire.protocol.messages.metadata_records import PartitionChangeRecord

T = TypeVar("T")


class Election(Enum):
    """Who may be elected."""

    PREFERRED = "preferred"
    """The first replica, when it is in sync; else the leader stays."""
    ONLINE = "online"
    UNCLEAN = "unclean"
    """As ONLINE, and where that finds nobody, anybody alive."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the cluster says about any change of this partition."""

    metadata_version: int
    with_elr: bool
    min_insync_replicas: int
    may_lead: Callable[[int], bool]
    default_directory: Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class Wish:
    """What should become of a partition; None is "as it is"."""

    isr: tuple[int, ...] | None = None
    replicas: tuple[int, ...] | None = None
    removing_replicas: tuple[int, ...] | None = None
    adding_replicas: tuple[int, ...] | None = None
    directories: Mapping[int, bytes] = field(default_factory=dict)
    """By broker; the others keep theirs."""
    leader_recovery_state: int | None = None
    election: Election = Election.ONLINE
    unclean_shutdown: frozenset[int] = frozenset()
    """Replicas that may have lost what they had."""


def change_of(
    topic_id: bytes, index: int, before: Partition, wish: Wish, rules: Rules
) -> PartitionChangeRecord | None:
    """The record that brings the partition as near to the wish as may be; None if that is where it is."""
    target = _Target(before, wish, rules)
    target.complete_reassignment()
    target.gather_eligible()
    target.elect()
    target.remember_last_leader()
    return target.record(topic_id, index)


class _Target:
    """The partition as it will be, step by step."""

    def __init__(self, before: Partition, wish: Wish, rules: Rules) -> None:
        self.before = before
        self.wish = wish
        self.rules = rules
        self.isr = before.isr if wish.isr is None else wish.isr
        if not self.isr and not rules.with_elr:
            self.isr = before.isr  # partition_change I4
        self.replicas = before.replicas if wish.replicas is None else wish.replicas
        self.removing = (
            before.removing_replicas if wish.removing_replicas is None else wish.removing_replicas
        )
        self.adding = (
            before.adding_replicas if wish.adding_replicas is None else wish.adding_replicas
        )
        self.elr = before.elr
        self.last_known_elr = before.last_known_elr
        self.leader = before.leader
        self.recovery = (
            before.leader_recovery_state
            if wish.leader_recovery_state is None
            else wish.leader_recovery_state
        )

    def complete_reassignment(self) -> None:
        """Drop the leaving replicas once all that stay are in sync."""
        if not self.removing and not self.adding:
            return
        staying = tuple(one for one in self.replicas if one not in self.removing)
        if not staying or not set(staying) <= set(self.isr):
            return
        self.replicas = staying
        self.isr = tuple(one for one in self.isr if one not in self.removing)
        self.removing = self.adding = ()

    def gather_eligible(self) -> None:
        """partition_change I3."""
        if not self.rules.with_elr:
            return
        if len(self.isr) >= min(self.rules.min_insync_replicas, len(self.replicas)):
            self.elr = self.last_known_elr = ()
            return
        candidates = dict.fromkeys((*self.before.elr, *self.before.isr))
        self.elr = tuple(
            one
            for one in candidates
            if one not in self.isr
            and one in self.replicas
            and one not in self.wish.unclean_shutdown
        )

    def elect(self) -> None:
        leader, unclean = self._elected()
        self.leader = leader
        if leader == NO_LEADER:
            return
        if leader not in self.isr:
            self.isr = (leader,)
            self.gather_eligible()
        if unclean:
            self.recovery = RECOVERING

    def _elected(self) -> tuple[int, bool]:
        """The leader, and whether it may lack what was committed."""
        may_lead = self.rules.may_lead
        in_sync = [one for one in self.replicas if one in self.isr and may_lead(one)]
        preferred = self.replicas[0]
        if self.wish.election is Election.PREFERRED and preferred in in_sync:
            return preferred, False
        if self.before.leader in in_sync:
            return self.before.leader, False
        eligible = [one for one in self.replicas if one in self.elr and may_lead(one)]
        for one in (*in_sync, *eligible):
            return one, False
        if self.rules.with_elr and not self.isr and not self.elr:
            for one in self.last_known_elr[:1]:
                if one in self.replicas and may_lead(one):
                    return one, True
        if self.wish.election is Election.UNCLEAN:
            for one in self.replicas:
                if may_lead(one):
                    return one, True
        return NO_LEADER, False

    def remember_last_leader(self) -> None:
        """When nobody is left in sync, the one who led last is the best guess."""
        if self.rules.with_elr and not self.isr and self.before.leader != NO_LEADER:
            self.last_known_elr = (self.before.leader,)

    def record(self, topic_id: bytes, index: int) -> PartitionChangeRecord | None:
        before = self.before
        change = PartitionChangeRecord(partition_id=index, topic_id=topic_id)
        change.leader = self._leader_named()
        change.isr = _changed(self.isr, before.isr)
        change.replicas = _changed(self.replicas, before.replicas)
        change.removing_replicas = _changed(self.removing, before.removing_replicas)
        change.adding_replicas = _changed(self.adding, before.adding_replicas)
        if self.recovery != before.leader_recovery_state:
            change.leader_recovery_state = self.recovery
        if self.rules.with_elr:
            change.eligible_leader_replicas = _changed(self.elr, before.elr)
            change.last_known_elr = _changed(self.last_known_elr, before.last_known_elr)
        if self.rules.metadata_version >= DIRECTORIES_LEVEL:
            change.directories = _changed(self._directories(), before.directories)
        empty = PartitionChangeRecord(partition_id=index, topic_id=topic_id)
        return None if change == empty else change

    def _leader_named(self) -> int:
        before = self.before
        if self.leader != before.leader:
            return self.leader
        shrinks = not set(before.isr) <= set(self.isr)
        bumps_on_shrink = self.rules.metadata_version < NO_EPOCH_BUMP_ON_SHRINK_LEVEL
        loses_replica = not set(before.replicas) <= set(self.replicas)  # partition_change I5
        return self.leader if loses_replica or (shrinks and bumps_on_shrink) else UNCHANGED_LEADER

    def _directories(self) -> tuple[bytes, ...]:
        before, wish = self.before, self.wish
        if self.replicas == before.replicas and not wish.directories:
            return before.directories
        return tuple(
            wish.directories.get(one)
            or (
                before.directory_of(one)
                if one in before.replicas
                else self.rules.default_directory(one)
            )
            for one in self.replicas
        )


def _changed(new: tuple[T, ...], old: tuple[T, ...]) -> list[T] | None:
    return None if new == old else list(new)
