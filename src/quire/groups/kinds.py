"""What every kind of group answers, whoever its members are and however they are kept.

A group id belongs to one kind at a time. The coordinator finds the group and asks it; what only one kind knows
(generations, member epochs) stays in that kind's modules.

Invariants
  I1  A refusal is an error code; ErrorCode.NONE permits.
Not here   classic groups (classic), kinds that are not served (foreign).
See        KIP-848, KIP-932, KIP-1071
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Protocol

from quire.coordination import KeyValue
from quire.errors import ErrorCode
from quire.groups.stored_values import Committed

NO_GENERATION = -1
NO_MEMBER = ""


class GroupType(Enum):
    """The kinds; the values are what clients are told and ask for."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


class Claim(NamedTuple):
    """Who a commit or a fetch says it comes from."""

    member_id: str = NO_MEMBER
    instance_id: str | None = None
    epoch: int = NO_GENERATION
    """The generation, or the member epoch."""
    is_transactional: bool = False
    version: int = 0
    """Of the request."""


class Group(Protocol):
    """One group."""

    @property
    def group_id(self) -> str: ...

    @property
    def group_type(self) -> GroupType: ...

    @property
    def is_empty(self) -> bool:
        """Whether nobody belongs to it, or is about to: without offsets it may go."""
        ...

    def refuse_commit(self, claim: Claim) -> ErrorCode:
        """Why who asks may not commit."""
        ...

    def refuse_fetch(self, claim: Claim) -> ErrorCode:
        """Why who asks may not see what is committed."""
        ...

    def refuse_offset_delete(self) -> ErrorCode:
        """Why no offset may be taken away."""
        ...

    def refuse_delete(self) -> ErrorCode:
        """Why the group may not be deleted."""
        ...

    def touch(self, member_id: str, elapsed_ms: int) -> None:
        """A commit shows that a member is alive, where commits count as such."""
        ...

    def is_subscribed(self, topic: str) -> bool:
        """Whether its members read a topic now."""
        ...

    def expires_from(self, committed: Committed) -> int | None:
        """Since when an offset's retention counts; None while it does not."""
        ...

    def tombstones(self) -> list[KeyValue]:
        """What takes the group itself away, its offsets left aside."""
        ...
