"""A consumer group while a command is changing it: what is stored, and the changes that its records will make.

Every change is written as a record and seen at once by the rest of the command. What is stored is not touched: it
changes when the records are replayed.

Invariants
  I1  Replaying the records of a draft on what was stored gives what the draft shows.
Not here   which changes are made (consumer_heartbeat, consumer_leaving, migration).
See        src/quire/coordination.py I1, docs/decisions/0012-consumer-groups-change-by-drafts.md
"""

from __future__ import annotations

from quire.coordination import KeyValue
from quire.groups import consumer_records as records
from quire.groups.consumer_stored import ConsumerStored
from quire.groups.consumer_values import Holding, Matched, Partitions, Wishes


class Draft:
    """See the module."""

    __slots__ = ("_is_own", "group_id", "now", "records")

    def __init__(
        self,
        group_id: str,
        stored: ConsumerStored,
        written: list[KeyValue],
        *,
        is_own: bool = False,
    ) -> None:
        self.group_id = group_id
        self.now = stored
        """The group as it is now, changes included; not to be written to."""
        self.records = written
        self._is_own = is_own

    def put_epoch(self, epoch: int, metadata_hash: int) -> None:
        self._own().put_epoch(epoch, metadata_hash)
        self.records.append(records.epoch_record(self.group_id, epoch, metadata_hash))

    def put_member(self, wishes: Wishes) -> None:
        self._own().put_member(wishes)
        self.records.append(records.member_record(self.group_id, wishes))

    def put_target(self, member_id: str, target: Partitions) -> None:
        self._own().put_target(member_id, target)
        self.records.append(records.target_record(self.group_id, member_id, target))

    def put_target_epoch(self, epoch: int, timestamp: int) -> None:
        own = self._own()
        own.target_epoch, own.target_timestamp = epoch, timestamp
        self.records.append(records.target_epoch_record(self.group_id, epoch, timestamp))

    def put_holding(self, member_id: str, holding: Holding) -> None:
        self._own().put_holding(member_id, holding)
        self.records.append(records.current_record(self.group_id, member_id, holding))

    def put_pattern(self, pattern: str, matched: Matched) -> None:
        self._own().patterns[pattern] = matched
        self.records.append(records.pattern_record(self.group_id, pattern, matched))

    def remove_pattern(self, pattern: str) -> None:
        self._own().patterns.pop(pattern, None)
        self.records.append(records.tombstone(records.PATTERN, self.group_id, pattern))

    def remove_member(self, member_id: str) -> None:
        """A member goes, with everything that is written of it."""
        own = self._own()
        own.put_holding(member_id, None)
        own.targets.pop(member_id, None)
        own.remove_member(member_id)
        self.records += [
            records.tombstone(kind, self.group_id, member_id)
            for kind in (records.CURRENT, records.TARGET, records.MEMBER)
        ]

    def _own(self) -> ConsumerStored:
        if not self._is_own:
            self.now = self.now.copy()
            self._is_own = True
        return self.now


def tombstones(group_id: str, stored: ConsumerStored) -> list[KeyValue]:
    """What takes a whole group away."""
    found = [records.tombstone(records.CURRENT, group_id, one) for one in stored.holdings]
    found += [records.tombstone(records.TARGET, group_id, one) for one in stored.targets]
    found.append(records.tombstone(records.TARGET_EPOCH, group_id))
    found += [records.tombstone(records.MEMBER, group_id, one) for one in stored.members]
    found += [records.tombstone(records.PATTERN, group_id, one) for one in stored.patterns]
    # the last but one is written by earlier brokers only, and taken away in any case
    found += [
        records.tombstone(kind, group_id)
        for kind in (records.PARTITION_METADATA, records.GROUP_EPOCH)
    ]
    return found
