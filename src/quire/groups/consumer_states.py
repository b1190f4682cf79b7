"""The states of a consumer group's member, and those of the group that follow from them.

A member goes from one target assignment to the next by itself; nobody waits for anybody but for partitions that
somebody else still holds.

STABLE
  it may read everything that it was given; with the target's epoch it has everything that it shall have
  action      confirms the epoch in answers; tells the assignment when it has changed
  transition  the target is newer and takes partitions away -> UNREVOKED_PARTITIONS; it gives partitions that others
              still hold -> UNRELEASED_PARTITIONS; it gives free ones, or none -> STABLE with the target's epoch
UNREVOKED_PARTITIONS
  it was told to give partitions back, and still holds them; it stays in its epoch
  action      tells what it may keep; after its rebalance timeout it is fenced
  transition  it says that it owns none of them any more -> as from STABLE, in the newest target
UNRELEASED_PARTITIONS
  it is in the target's epoch, but others still hold some of its partitions
  action      gives it each partition when it is free
  transition  nothing is held by others any more -> STABLE; the target is newer -> as from STABLE
UNKNOWN
  written by a later version of the protocol: it is taken as STABLE and reconciled

Of the group: EMPTY without members; ASSIGNING while the target is older than the group; RECONCILING while a member is
not STABLE in the target's epoch; STABLE otherwise; DEAD when it is not there.

See        KIP-848
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Final


class MemberState(IntEnum):
    """See the module; the numbers are written into records."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127


class ConsumerGroupState(Enum):
    """See the module; the values are what clients are told."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"


STABLE: Final = MemberState.STABLE
UNREVOKED: Final = MemberState.UNREVOKED_PARTITIONS
UNRELEASED: Final = MemberState.UNRELEASED_PARTITIONS


def state_of(number: int) -> MemberState:
    """The state of a number, also of one that is not known yet."""
    return MemberState(number) if number in tuple(MemberState) else MemberState.UNKNOWN
