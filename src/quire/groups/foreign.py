"""A group of a kind that is not served here: a share or streams group that another broker wrote.

Its records are kept as they are, so that it is listed, is not mistaken for something else, and can be deleted whole
once it has no members. Nothing joins it, and nobody commits for it.

Not here   what its members do.
See        KIP-932, KIP-1071
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from quire.coordination import KeyValue
from quire.errors import ErrorCode
from quire.groups.keys import type_of
from quire.groups.kinds import NO_GENERATION, Claim, GroupType
from quire.groups.stored_values import Committed

SHARE_KEYS: Final = range(10, 16)
MEMBER_KEYS: Final = frozenset({10, 19})


class ForeignGroup:
    """See the module."""

    def __init__(self, group_id: str, records: Mapping[bytes, bytes]) -> None:
        self.group_id = group_id
        self._keys = tuple(records)
        kinds = [type_of(key) for key in records]
        self._has_members = any(kind in MEMBER_KEYS for kind in kinds)
        is_share = any(kind in SHARE_KEYS for kind in kinds)
        self.group_type = GroupType.SHARE if is_share else GroupType.STREAMS

    @property
    def is_empty(self) -> bool:
        return not self._has_members

    @property
    def state_text(self) -> str:
        return "Stable" if self._has_members else "Empty"

    @property
    def protocol_type(self) -> str:
        """What ListGroups tells of it."""
        return self.group_type.value

    def refuse_commit(self, claim: Claim) -> ErrorCode:
        if self.is_empty and claim.epoch <= NO_GENERATION:
            return ErrorCode.NONE
        return ErrorCode.UNKNOWN_MEMBER_ID

    def refuse_fetch(self, claim: Claim) -> ErrorCode:
        if claim.epoch < 0:
            return ErrorCode.NONE
        return ErrorCode.UNKNOWN_MEMBER_ID

    def refuse_offset_delete(self) -> ErrorCode:
        return ErrorCode.NONE if self.is_empty else ErrorCode.NON_EMPTY_GROUP

    def refuse_delete(self) -> ErrorCode:
        return ErrorCode.NONE if self.is_empty else ErrorCode.NON_EMPTY_GROUP

    def touch(self, member_id: str, elapsed_ms: int) -> None:
        """Nobody is alive here."""

    def is_subscribed(self, topic: str) -> bool:
        return self._has_members and bool(topic)

    def expires_from(self, committed: Committed) -> int | None:
        return committed.commit_timestamp if self.is_empty else None

    def tombstones(self) -> list[KeyValue]:
        return [KeyValue(key, None) for key in self._keys]
