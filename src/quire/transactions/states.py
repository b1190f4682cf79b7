"""The states of a transaction, and which may follow which: one table.

    Empty               nothing has been added since the producer began, or began anew
    Ongoing             partitions take part
    PrepareEpochFence   to be aborted for somebody else's sake, its epoch one higher: passed through, never written
    PrepareCommit       decided: every partition is to be told; nobody can change it any more
    PrepareAbort        decided likewise; without any partition too, where epochs are bumped with every transaction
    CompleteCommit      every partition has its marker
    CompleteAbort       likewise
    Dead                the id has not been used for long: a tombstone is written, and nothing is left

    Empty --add--> Ongoing --end--> Prepare* --markers written--> Complete* --add--> Ongoing
      ^                                                             |
      +------------------------- InitProducerId --------------------+

Invariants
  I1  No state follows another that `PREVIOUS` does not allow.
See        KIP-98, KIP-890
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final


class State(IntEnum):
    """The numbers are those of the log."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def is_prepared(self) -> bool:
        """Whether the end is decided and its markers are on their way."""
        return self in (State.PREPARE_COMMIT, State.PREPARE_ABORT)

    @property
    def is_complete(self) -> bool:
        return self in (State.COMPLETE_COMMIT, State.COMPLETE_ABORT)

    @property
    def may_expire(self) -> bool:
        """Whether an id in this state is forgotten when it has not been used for long."""
        return State.DEAD in _NEXT[self]


NAMES: Final[Mapping[State, str]] = MappingProxyType(
    {
        State.EMPTY: "Empty",
        State.ONGOING: "Ongoing",
        State.PREPARE_COMMIT: "PrepareCommit",
        State.PREPARE_ABORT: "PrepareAbort",
        State.COMPLETE_COMMIT: "CompleteCommit",
        State.COMPLETE_ABORT: "CompleteAbort",
        State.DEAD: "Dead",
        State.PREPARE_EPOCH_FENCE: "PrepareEpochFence",
    }
)
"""As tools show them and filters name them."""
BY_NAME: Final[Mapping[str, State]] = MappingProxyType(
    {name: state for state, name in NAMES.items()}
)

_AT_REST: Final = (State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT)

PREVIOUS: Final[Mapping[State, tuple[State, ...]]] = MappingProxyType(
    {
        State.EMPTY: _AT_REST,
        State.ONGOING: (State.ONGOING, *_AT_REST),
        State.PREPARE_COMMIT: (State.ONGOING,),
        State.PREPARE_ABORT: (State.ONGOING, State.PREPARE_EPOCH_FENCE, *_AT_REST),
        State.COMPLETE_COMMIT: (State.PREPARE_COMMIT,),
        State.COMPLETE_ABORT: (State.PREPARE_ABORT,),
        State.DEAD: _AT_REST,
        State.PREPARE_EPOCH_FENCE: (State.ONGOING,),
    }
)
"""State -> the states that it may follow. From rest to PrepareAbort only with an epoch bump (version 2)."""

_NEXT: Final[Mapping[State, tuple[State, ...]]] = MappingProxyType(
    {one: tuple(state for state in State if one in PREVIOUS[state]) for one in State}
)


def may_follow(before: State, after: State) -> bool:
    """I1."""
    return before in PREVIOUS[after]
