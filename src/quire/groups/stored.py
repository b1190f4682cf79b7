"""Hard state: the fold of the records of one partition of `__consumer_offsets`, and nothing else.

Invariants
  I1  Two folds of the same records are equal, wherever one of them paused.
  I2  A transaction's positions are pending until its end: nobody sees them, nothing expires them. Of a plain and a
      transactional position for the same partition the one whose record came later counts.
  I3  A tombstone of a position takes what is pending for it too.
  I4  Nothing empty is kept: a group, topic or producer without anything left is not in any dictionary.
Not here   who waits, timers, generations on their way (classic).
"""

from __future__ import annotations

from struct import error as StructError  # noqa: N812 -- it is a class
from typing import Any

from quire.coordination import KeyValue, Producer
from quire.errors import ProtocolError
from quire.groups import consumer_records
from quire.groups.consumer_stored import ConsumerStored
from quire.groups.keys import (
    CLASSIC_GROUP,
    LEGACY_OFFSET,
    OFFSET,
    OffsetKey,
    group_of,
    read_group_value,
    read_offset_key,
    read_offset_value,
    type_of,
)
from quire.groups.stored_values import Committed, StoredGroup

Positions = dict[str, dict[int, Committed]]
"""By topic and partition."""


class Stored:
    """See the module."""

    def __init__(self) -> None:
        self.groups: dict[str, StoredGroup] = {}
        self.consumers: dict[str, ConsumerStored] = {}
        self.offsets: dict[str, Positions] = {}
        self.pending: dict[int, dict[OffsetKey, Committed]] = {}
        """By producer."""
        self.open: dict[str, dict[OffsetKey, dict[int, None]]] = {}
        """The same by group and position: the producers of what is pending."""
        self.foreign: dict[str, dict[bytes, bytes]] = {}
        """Records of other kinds of groups, by group and key."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stored) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def replay(self, record: KeyValue, offset: int, producer: Producer | None) -> None:
        """Take in one record; ProtocolError when it cannot be read."""
        try:
            self._replay(record, offset, producer)
        except (StructError, IndexError, UnicodeDecodeError) as error:
            raise ProtocolError(
                f"the record at offset {offset} cannot be read: {error}",
                where="__consumer_offsets",
                position=0,
            ) from error

    def _replay(self, record: KeyValue, offset: int, producer: Producer | None) -> None:
        key, value = record
        kind = type_of(key)
        if kind in (OFFSET, LEGACY_OFFSET):
            self._replay_offset(read_offset_key(key), value, offset, producer)
        elif kind == CLASSIC_GROUP:
            group_id = group_of(key)
            if value is None:
                self.groups.pop(group_id, None)
            else:
                self.groups[group_id] = read_group_value(value)
                self.foreign.pop(group_id, None)
        elif kind in consumer_records.KINDS:
            self._replay_consumer(group_of(key), kind, record)
        elif value is None:
            _discard(self.foreign, group_of(key), key)
        else:
            self.foreign.setdefault(group_of(key), {})[key] = value

    def replay_end(self, producer_id: int, *, committed: bool) -> None:
        """A producer's transaction has ended (I2)."""
        for key, position in self.pending.pop(producer_id, {}).items():
            self._close(key, producer_id)
            if committed:
                known = self.committed(key)
                if known is None or known.record_offset < position.record_offset:
                    self._put(key, position)

    def committed(self, key: OffsetKey) -> Committed | None:
        """What holds for a partition."""
        return self.offsets.get(key.group_id, {}).get(key.topic, {}).get(key.partition)

    def has_pending(self, key: OffsetKey) -> bool:
        """Whether an open transaction may still change a position."""
        open_here = self.open.get(key.group_id)
        return open_here is not None and key in open_here

    def knows(self, group_id: str) -> bool:
        """Whether any record speaks of a group."""
        return (
            group_id in self.groups
            or group_id in self.consumers
            or group_id in self.offsets
            or group_id in self.foreign
            or group_id in self.open
        )

    def group_ids(self) -> list[str]:
        """Every group that some record speaks of, each once."""
        return list({**self.groups, **self.consumers, **self.offsets, **self.foreign, **self.open})

    def _replay_consumer(self, group_id: str, kind: int, record: KeyValue) -> None:
        """The record of its epoch is the last one of a consumer group to go."""
        key, value = record
        if value is None and kind == consumer_records.GROUP_EPOCH:
            self.consumers.pop(group_id, None)
            return
        group = self.consumers.get(group_id)
        if group is None:
            if value is None:
                return
            group = self.consumers[group_id] = ConsumerStored()
        group.replay(kind, key, value)

    def _replay_offset(
        self, key: OffsetKey, value: bytes | None, offset: int, producer: Producer | None
    ) -> None:
        if value is None:
            self._remove(key)
            return
        position = read_offset_value(value, offset)
        if producer is None:
            self._put(key, position)
            return
        producer_id = producer.producer_id
        self.pending.setdefault(producer_id, {})[key] = position
        self.open.setdefault(key.group_id, {}).setdefault(key, {})[producer_id] = None

    def _put(self, key: OffsetKey, position: Committed) -> None:
        group = self.offsets.get(key.group_id)
        if group is None:
            group = self.offsets[key.group_id] = {}
        topic = group.get(key.topic)
        if topic is None:
            topic = group[key.topic] = {}
        topic[key.partition] = position

    def _remove(self, key: OffsetKey) -> None:
        group = self.offsets.get(key.group_id)
        if group is not None and key.topic in group:
            _discard(group, key.topic, key.partition)
            if not group:
                del self.offsets[key.group_id]
        for producer_id in list(self.open.get(key.group_id, {}).get(key, ())):
            _discard(self.pending, producer_id, key)
            self._close(key, producer_id)

    def _close(self, key: OffsetKey, producer_id: int) -> None:
        group = self.open[key.group_id]
        _discard(group, key, producer_id)
        if not group:
            del self.open[key.group_id]

    def check(self) -> None:
        """Assert I4, and that both views of what is pending agree."""
        for everything in (self.offsets, self.pending, self.open, self.foreign):
            assert all(everything.values()), "groups.stored I4"
        assert all(topic for group in self.offsets.values() for topic in group.values())
        for group in self.consumers.values():
            group.check()
        seen = {(pid, key) for pid, keys in self.pending.items() for key in keys}
        open_here = {
            (pid, key)
            for group in self.open.values()
            for key, pids in group.items()
            for pid in pids
        }
        assert seen == open_here, "groups.stored: pending and open differ"


def _discard(outer: dict[Any, dict[Any, Any]], first: Any, second: Any) -> None:
    """Take a value out of nested dictionaries, and the inner one when nothing is left in it."""
    inner = outer.get(first)
    if inner is not None:
        inner.pop(second, None)
        if not inner:
            del outer[first]
