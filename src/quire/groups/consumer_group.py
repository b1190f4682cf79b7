"""A consumer group while it is in use: what is stored of it, and the sessions of its members.

Soft state is the sessions, and the picture of the cluster that the group was last compared with. It is thrown away
with the machine.

Not here   changes (consumer_draft), requests (consumer_heartbeat, consumer_leaving), timers (consumer_sessions).
See        KIP-848
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from quire.coordination import KeyValue
from quire.errors import ErrorCode
from quire.groups.consumer_draft import tombstones
from quire.groups.consumer_sessions import Sessions
from quire.groups.consumer_states import ConsumerGroupState
from quire.groups.consumer_stored import ConsumerStored
from quire.groups.consumer_values import Wishes
from quire.groups.kinds import NO_GENERATION, NO_MEMBER, Claim, GroupType
from quire.groups.stored_values import Committed

MEMBER_EPOCHS_SINCE: Final = 9
"""Of OffsetCommit: members of the new protocol use no earlier one."""
PROTOCOL_TYPE: Final = "consumer"


class ConsumerGroup:
    """See the module."""

    group_type = GroupType.CONSUMER

    def __init__(self, group_id: str, stored: ConsumerStored | None = None) -> None:
        self.group_id = group_id
        self.stored = ConsumerStored() if stored is None else stored
        self.sessions = Sessions(group_id)
        self.seen: tuple[Mapping[str, object] | None, Mapping[bytes, str] | None] = (None, None)
        """The topics, and their names, that the group was last compared with."""

    @property
    def state(self) -> ConsumerGroupState:
        return self.stored.state

    # --- what every kind of group answers -----------------------------------------------------

    @property
    def is_empty(self) -> bool:
        return not self.stored.members

    @property
    def state_text(self) -> str:
        return self.state.value

    @property
    def protocol_type(self) -> str:
        return PROTOCOL_TYPE

    def refuse_commit(self, claim: Claim) -> ErrorCode:
        """Why nothing may be committed; a member of an earlier epoch may commit some (refuse_partition)."""
        if claim.epoch < 0 and not self.stored.members:
            return ErrorCode.NONE
        is_nobody = claim.member_id == NO_MEMBER and claim.instance_id is None
        if claim.is_transactional and claim.epoch == NO_GENERATION and is_nobody:
            return ErrorCode.NONE
        wishes = self.stored.members.get(claim.member_id)
        if wishes is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        is_classic = wishes.classic is not None
        if not claim.is_transactional and not is_classic and claim.version < MEMBER_EPOCHS_SINCE:
            return ErrorCode.UNSUPPORTED_VERSION
        if claim.epoch > self.stored.holding(claim.member_id).epoch:
            return _wrong_epoch(wishes)
        return ErrorCode.NONE

    def is_late(self, claim: Claim) -> bool:
        """Whether who commits is in an earlier epoch than it should be: its partitions are looked at one by one."""
        is_member = claim.member_id in self.stored.members
        return is_member and claim.epoch < self.stored.holding(claim.member_id).epoch

    def refuse_partition(self, claim: Claim, topic_id: bytes, partition: int) -> ErrorCode:
        """In an earlier epoch a member commits what it was given by then, and still holds (KIP-1251)."""
        holding = self.stored.holding(claim.member_id)
        for held in (holding.assigned, holding.revoking):
            given = held.get(topic_id, {}).get(partition)
            if given is not None and given <= claim.epoch:
                return ErrorCode.NONE
        return _wrong_epoch(self.stored.members[claim.member_id])

    def refuse_fetch(self, claim: Claim) -> ErrorCode:
        wishes = self.stored.members.get(claim.member_id)
        if wishes is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if claim.epoch == self.stored.holding(claim.member_id).epoch:
            return ErrorCode.NONE
        return _wrong_epoch(wishes)

    def refuse_offset_delete(self) -> ErrorCode:
        return ErrorCode.NONE  # what members subscribe to is refused topic by topic

    def refuse_delete(self) -> ErrorCode:
        return ErrorCode.NONE if self.is_empty else ErrorCode.NON_EMPTY_GROUP

    def touch(self, member_id: str, elapsed_ms: int) -> None:
        """Heartbeats go on while a member works: commits say nothing."""

    def is_subscribed(self, topic: str) -> bool:
        stored = self.stored
        return any(topic in stored.topics_of(wishes) for wishes in stored.members.values())

    def expires_from(self, committed: Committed) -> int | None:
        return committed.commit_timestamp

    def tombstones(self) -> list[KeyValue]:
        return tombstones(self.group_id, self.stored)

    def check(self) -> None:
        """Assert the invariants."""
        self.stored.check()
        self.sessions.check()


def _wrong_epoch(wishes: Wishes) -> ErrorCode:
    """In the words of the protocol that a member speaks."""
    is_classic = wishes.classic is not None
    return ErrorCode.ILLEGAL_GENERATION if is_classic else ErrorCode.STALE_MEMBER_EPOCH
