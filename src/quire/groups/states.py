"""The states of a classic group.

EMPTY
  nobody belongs to it; it may still have committed offsets
  action      answers heartbeats and syncs with UNKNOWN_MEMBER_ID; takes commits of those who need no group
  transition  somebody joins -> PREPARING_REBALANCE; deleted, or nothing is left of it -> DEAD
PREPARING_REBALANCE
  its members are asked to join anew
  action      answers heartbeats and syncs with REBALANCE_IN_PROGRESS; takes commits of the last generation
  transition  all have joined, or their time is over -> COMPLETING_REBALANCE; all have left -> EMPTY
COMPLETING_REBALANCE
  a new generation waits for its leader's assignment
  action      keeps those who sync waiting; answers commits with REBALANCE_IN_PROGRESS, heartbeats with NONE
  transition  the leader's assignment comes -> STABLE; somebody joins, changes, leaves, fails -> PREPARING_REBALANCE
STABLE
  everybody may have their assignment
  action      answers syncs with it; takes commits
  transition  somebody joins, changes, leaves, fails -> PREPARING_REBALANCE
DEAD
  it is gone; only answers about groups that are not there speak of it

See        KIP-62, KIP-134 (the delay of the first rebalance)
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final


class GroupState(Enum):
    """See the module; the values are what clients are told."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


EMPTY: Final = GroupState.EMPTY
PREPARING: Final = GroupState.PREPARING_REBALANCE
COMPLETING: Final = GroupState.COMPLETING_REBALANCE
STABLE: Final = GroupState.STABLE
DEAD: Final = GroupState.DEAD

NEXT: Final[Mapping[GroupState, tuple[GroupState, ...]]] = {
    EMPTY: (PREPARING, DEAD),
    PREPARING: (COMPLETING, EMPTY, DEAD),
    COMPLETING: (STABLE, PREPARING, DEAD),
    STABLE: (PREPARING, DEAD),
    DEAD: (),
}
"""Where each state may lead."""
