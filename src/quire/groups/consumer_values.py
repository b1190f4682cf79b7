"""What the records of a consumer group say, as values.

Not here   their bytes (consumer_records), the fold of them (consumer_stored).
See        KIP-848, KIP-1251 (assignment epochs)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from quire.groups.consumer_states import STABLE, MemberState

LEAVING: Final = -1
"""The epoch of a member that goes."""
AWAY: Final = -2
"""The epoch of a static member that has gone and may come back."""
JOINING: Final = 0
NO_PATTERN: Final = ""

Partitions = Mapping[bytes, tuple[int, ...]]
"""By topic id, ascending."""
Held = Mapping[bytes, Mapping[int, int]]
"""By topic id and partition, the epoch in which it was given."""


class ClassicSide(NamedTuple):
    """What a member that speaks the classic protocol has said besides."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]


class Wishes(NamedTuple):
    """A member, and what it wants."""

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: tuple[str, ...] = ()
    """Names, sorted."""
    pattern: str = NO_PATTERN
    rebalance_timeout_ms: int = -1
    assignor: str | None = None
    classic: ClassicSide | None = None


class Holding(NamedTuple):
    """What a member has, and what it still has to give back."""

    epoch: int = JOINING
    previous_epoch: int = JOINING
    state: MemberState = STABLE
    assigned: Held = MappingProxyType({})
    revoking: Held = MappingProxyType({})

    def at(self, epoch: int) -> Holding:
        """The same in another epoch."""
        return self._replace(epoch=epoch, previous_epoch=self.epoch)

    def places(self) -> Iterator[tuple[bytes, int]]:
        """Every partition that nobody else may have."""
        for held in (self.assigned, self.revoking):
            for topic_id, partitions in held.items():
                for partition in partitions:
                    yield topic_id, partition


class Matched(NamedTuple):
    """The topics that a pattern meant, in one picture of the cluster."""

    topics: tuple[str, ...]
    image_offset: int
    timestamp: int


NOTHING: Final = Holding()


def partitions_of(held: Held) -> Partitions:
    """Without the epochs."""
    return {topic_id: tuple(sorted(partitions)) for topic_id, partitions in held.items()}
