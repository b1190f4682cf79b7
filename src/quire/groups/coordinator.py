"""The machine of one partition of `__consumer_offsets`: it finds the group that a command is for, and asks it.

    hard state   `stored`, the fold of the records; a machine that is fed with them again has the same
    soft state   one object for each group that is in use: who waits, timers, votes; thrown away with the machine

A group is of one kind at a time (kinds). Commands that any kind understands (offsets, deletion, lists) go through
what kinds have in common; those of the classic protocol go to `joining` and `membership`, which know only classic
groups. A group of another kind refuses them.

Invariants
  I1  coordination I1-I3.
  I2  A classic group that is stored with members is stable, and has their sessions' timers, once `loaded` is done.
  I3  A group that no record speaks of, and nobody waits for, is no group.
Not here   the log, waiting for it, where a key belongs (broker.coordinators); who may ask (broker.dispatch).
See        docs/decisions/0009-controller-is-a-replayed-machine.md, KIP-62, KIP-848
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

from quire.coordination import (
    NOTHING,
    Answer,
    Caller,
    Decision,
    KeyValue,
    Moment,
    Producer,
    Ticket,
)
from quire.errors import ErrorCode
from quire.groups import offsets, rebalance
from quire.groups.classic import ClassicGroup
from quire.groups.describing import DeleteGroups, DescribeGroup, ListGroups, describe, listed
from quire.groups.expiry import expire
from quire.groups.foreign import ForeignGroup
from quire.groups.joining import Joiner, join
from quire.groups.kinds import NO_MEMBER, Claim, Group
from quire.groups.membership import heartbeat, leave, leave_nothing, sync
from quire.groups.offsets import FetchOffsets
from quire.groups.rebalance import JOIN, SESSION, SYNC
from quire.groups.states import DEAD
from quire.groups.step import GroupsSettings, Step
from quire.groups.stored import Stored
from quire.protocol.messages.delete_groups import DeletableGroupResult
from quire.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from quire.protocol.messages.join_group import JoinGroupRequest
from quire.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from quire.protocol.messages.offset_commit import OffsetCommitRequest
from quire.protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from quire.protocol.messages.offset_fetch import OffsetFetchResponseGroup
from quire.protocol.messages.sync_group import SyncGroupRequest
from quire.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest

GROUP_ID_NOT_FOUND_SINCE: Final = 9
"""From this version of OffsetCommit on a missing group is told as such."""
LOOK_FOR_EXPIRED: Final = "expiry"
"""The key of the timer that is not a group's."""

Command = Callable[[Ticket, Any, Caller, Moment], Decision]


class GroupCoordinator:
    """See the module."""

    def __init__(
        self, partition: int, settings: Callable[[], GroupsSettings], draw: Callable[[int], bytes]
    ) -> None:
        self.partition = partition
        self.stored = Stored()
        self._settings = settings
        self._draw = draw
        self._classic: dict[str, ClassicGroup] = {}
        """Soft state; made when it is needed."""
        self._commands: Mapping[type, Command] = {
            JoinGroupRequest: self._join,
            SyncGroupRequest: self._sync,
            HeartbeatRequest: self._heartbeat,
            LeaveGroupRequest: self._leave,
            OffsetCommitRequest: self._commit,
            TxnOffsetCommitRequest: self._commit_in_transaction,
            FetchOffsets: self._fetch,
            OffsetDeleteRequest: self._delete_offsets,
            DescribeGroup: self._describe,
            ListGroups: self._list,
            DeleteGroups: self._delete,
        }

    # --- the shape of a coordinator -----------------------------------------------------------

    def command(self, ticket: Ticket, request: Any, caller: Caller, moment: Moment) -> Decision:
        return self._commands[type(request)](ticket, request, caller, moment)

    def replay(self, record: KeyValue, *, offset: int, producer: Producer | None) -> None:
        self.stored.replay(record, offset, producer)

    def replay_end(self, producer: Producer, *, committed: bool) -> None:
        self.stored.replay_end(producer.producer_id, committed=committed)

    def on_image(self, moment: Moment, deleted_topics: tuple[str, ...]) -> Decision:
        del moment  # classic groups look after their topics themselves
        if not deleted_topics:
            return NOTHING
        return Decision(tuple(offsets.tombstones_of_topics(self.stored, deleted_topics)))

    def loaded(self, moment: Moment) -> Decision:
        step = self._step(moment)
        step.timer(LOOK_FOR_EXPIRED, step.settings.offsets_check_interval_ms)
        for group_id, stored in self.stored.groups.items():
            if not stored.members:
                continue
            group = self._classic[group_id] = ClassicGroup.of(group_id, stored)
            for member in group.members.values():
                rebalance.keep_alive(group, step, member)
            if len(group.members) > step.settings.group_size_max:
                rebalance.prepare(group, step)
        return step.decision()

    def on_timer(self, key: Hashable, moment: Moment) -> Decision:
        step = self._step(moment)
        if key == LOOK_FOR_EXPIRED:
            self._expire(step)
            return step.decision()
        assert isinstance(key, tuple)
        kind, group_id, member_id = key
        group = self._classic.get(group_id)
        if group is None:
            return NOTHING
        if kind == SESSION:
            rebalance.on_session_timer(group, step, member_id)
        elif kind == JOIN:
            rebalance.on_join_timer(group, step)
        else:
            assert kind == SYNC, key
            rebalance.on_sync_timer(group, step)
        return step.decision()

    def check(self) -> None:
        self.stored.check()
        for group_id, group in self._classic.items():
            assert group.group_id == group_id
            group.check()

    # --- groups -------------------------------------------------------------------------------

    def find(self, group_id: str) -> Group | None:
        """The group, of whatever kind; None where there is none (I3)."""
        group = self._classic.get(group_id)
        if group is not None:
            return group
        known = self.stored.groups.get(group_id)
        if known is not None:
            group = ClassicGroup.of(group_id, known)
        elif group_id in self.stored.foreign:
            return ForeignGroup(group_id, self.stored.foreign[group_id])
        elif self.stored.knows(group_id):
            group = ClassicGroup(group_id, _last_commit(self.stored, group_id))
        else:
            return None
        self._classic[group_id] = group
        return group

    def _find_classic(self, group_id: str) -> ClassicGroup | None:
        group = self.find(group_id) if group_id else None
        return group if isinstance(group, ClassicGroup) else None

    def _all(self) -> list[Group]:
        ids = {**dict.fromkeys(self.stored.group_ids()), **dict.fromkeys(self._classic)}
        return [group for one in ids if (group := self.find(one)) is not None]

    def _step(self, moment: Moment) -> Step:
        return Step(moment, self._settings(), self._draw)

    # --- the classic protocol -----------------------------------------------------------------

    def _join(
        self, ticket: Ticket, request: JoinGroupRequest, caller: Caller, moment: Moment
    ) -> Decision:
        step = self._step(moment)
        group_id, member_id = request.group_id, request.member_id
        code = _refuse_join(request, step.settings)
        group = self.find(group_id)
        is_new = False
        if code is ErrorCode.NONE and isinstance(group, ForeignGroup):
            if not group.is_empty:
                code, member_id = ErrorCode.INCONSISTENT_GROUP_PROTOCOL, NO_MEMBER
            elif member_id == NO_MEMBER:
                step.records += group.tombstones()  # it makes room for a classic one
                group = None
        if code is ErrorCode.NONE and not isinstance(group, ClassicGroup):
            is_new = member_id == NO_MEMBER
            code = ErrorCode.NONE if is_new else ErrorCode.UNKNOWN_MEMBER_ID
        if code is not ErrorCode.NONE:
            rebalance.refuse_join(step, ticket, code, member_id)
            return step.decision()
        if not isinstance(group, ClassicGroup):
            group = self._classic[group_id] = ClassicGroup(group_id, moment.now_ms)
            step.records.append(group.record())
        join(group, step, Joiner(ticket, request, caller))
        return step.decision()

    def _sync(
        self, ticket: Ticket, request: SyncGroupRequest, _caller: Caller, moment: Moment
    ) -> Decision:
        step = self._step(moment)
        group = self._find_classic(request.group_id)
        if group is None:
            rebalance.refuse_sync(step, ticket, _missing(request.group_id))
        else:
            sync(group, step, ticket, request)
        return step.decision()

    def _heartbeat(
        self, ticket: Ticket, request: HeartbeatRequest, _caller: Caller, moment: Moment
    ) -> Decision:
        group = self._find_classic(request.group_id)
        step = self._step(moment)
        code = _missing(request.group_id) if group is None else heartbeat(group, step, request)
        step.answer(ticket, HeartbeatResponse(error_code=code))
        return step.decision()

    def _leave(
        self, ticket: Ticket, request: LeaveGroupRequest, _caller: Caller, moment: Moment
    ) -> Decision:
        group = self._find_classic(request.group_id)
        step = self._step(moment)
        if not request.group_id:
            step.answer(
                ticket, LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID, members=[])
            )
        elif group is None:
            step.answer(ticket, leave_nothing(request))
        else:
            step.answer(ticket, leave(group, step, request))
        return step.decision()

    # --- offsets ------------------------------------------------------------------------------

    def _commit(
        self, ticket: Ticket, request: OffsetCommitRequest, caller: Caller, moment: Moment
    ) -> Decision:
        group = self._classic.get(request.group_id) or self.find(request.group_id)
        epoch = request.generation_id_or_member_epoch
        if group is None:
            code = ErrorCode.NONE
            if epoch >= 0:
                by_name = caller.version >= GROUP_ID_NOT_FOUND_SINCE
                code = ErrorCode.GROUP_ID_NOT_FOUND if by_name else ErrorCode.ILLEGAL_GENERATION
        else:
            claim = Claim(
                request.member_id, request.group_instance_id, epoch, version=caller.version
            )
            code = group.refuse_commit(claim)
        if code is not ErrorCode.NONE:
            return Decision(answers=(Answer(ticket, offsets.refuse_commit(request, code)),))
        if group is not None:
            group.touch(request.member_id, moment.elapsed_ms)
        limit = self._settings().metadata_bytes_max
        records, response = offsets.commit(request, moment.now_ms, limit)
        return Decision(tuple(records), answers=(Answer(ticket, response),))

    def _commit_in_transaction(
        self, ticket: Ticket, request: TxnOffsetCommitRequest, caller: Caller, moment: Moment
    ) -> Decision:
        group = self.find(request.group_id)
        if group is None:
            code = ErrorCode.NONE if request.generation_id < 0 else ErrorCode.ILLEGAL_GENERATION
        else:
            claim = Claim(
                request.member_id,
                request.group_instance_id,
                request.generation_id,
                is_transactional=True,
                version=caller.version,
            )
            code = group.refuse_commit(claim)
        if code is not ErrorCode.NONE:
            return Decision(answers=(Answer(ticket, offsets.refuse_commit(request, code)),))
        limit = self._settings().metadata_bytes_max
        records, response = offsets.commit_in_transaction(request, moment.now_ms, limit)
        producer = Producer(request.producer_id, request.producer_epoch)
        return Decision(tuple(records), producer, (Answer(ticket, response),))

    def _fetch(
        self, ticket: Ticket, request: FetchOffsets, caller: Caller, _moment: Moment
    ) -> Decision:
        asked = request.group
        group = self.find(asked.group_id)
        code = ErrorCode.NONE
        if group is not None:
            claim = Claim(asked.member_id or "", None, asked.member_epoch, version=caller.version)
            code = group.refuse_fetch(claim)
        if code is ErrorCode.NONE:
            return Decision(answers=(Answer(ticket, offsets.fetch(self.stored, request)),))
        refusal = OffsetFetchResponseGroup(group_id=asked.group_id, topics=[], error_code=code)
        return Decision(answers=(Answer(ticket, refusal),))

    def _delete_offsets(
        self, ticket: Ticket, request: OffsetDeleteRequest, _caller: Caller, _moment: Moment
    ) -> Decision:
        group = self.find(request.group_id)
        code = ErrorCode.GROUP_ID_NOT_FOUND if group is None else group.refuse_offset_delete()
        if group is None or code is not ErrorCode.NONE:
            refusal = OffsetDeleteResponse(error_code=code, throttle_time_ms=0, topics=[])
            return Decision(answers=(Answer(ticket, refusal),))
        records, response = offsets.delete(self.stored, group, request)
        return Decision(tuple(records), answers=(Answer(ticket, response),))

    # --- administration -----------------------------------------------------------------------

    def _describe(
        self, ticket: Ticket, request: DescribeGroup, caller: Caller, _moment: Moment
    ) -> Decision:
        group = self.find(request.group_id)
        return Decision(
            answers=(Answer(ticket, describe(request.group_id, group, caller.version)),)
        )

    def _list(
        self, ticket: Ticket, request: ListGroups, _caller: Caller, _moment: Moment
    ) -> Decision:
        return Decision(answers=(Answer(ticket, listed(self._all(), request)),))

    def _delete(
        self, ticket: Ticket, request: DeleteGroups, _caller: Caller, moment: Moment
    ) -> Decision:
        step = self._step(moment)
        results = []
        for group_id in dict.fromkeys(request.group_ids):
            group = self.find(group_id)
            code = ErrorCode.GROUP_ID_NOT_FOUND if group is None else group.refuse_delete()
            if group is not None and code is ErrorCode.NONE:
                step.records += offsets.tombstones(self.stored, group_id)
                self._bury(group, step)
            results.append(DeletableGroupResult(group_id=group_id, error_code=code))
        step.answer(ticket, results)
        return step.decision()

    def _expire(self, step: Step) -> None:
        now_ms, retention_ms = step.moment.now_ms, step.settings.offsets_retention_ms
        for group in self._all():
            if isinstance(group, ForeignGroup):
                continue  # those who serve it know what it needs
            records, is_gone = expire(self.stored, group, now_ms, retention_ms)
            step.records += records
            if is_gone:
                self._bury(group, step)
        step.timer(LOOK_FOR_EXPIRED, step.settings.offsets_check_interval_ms)

    def _bury(self, group: Group, step: Step) -> None:
        """A group goes, with all that is written of it and its soft state."""
        step.records += group.tombstones()
        if isinstance(group, ClassicGroup):
            for member_id in group.expected:
                step.timer((SESSION, group.group_id, member_id), None)
            group.become(DEAD, step.moment.now_ms)
            self._classic.pop(group.group_id, None)


def _last_commit(stored: Stored, group_id: str) -> int:
    """When a group that was never written was last committed to: it has no state of its own."""
    topics = stored.offsets.get(group_id, {})
    return max(
        (one.commit_timestamp for topic in topics.values() for one in topic.values()), default=0
    )


def _refuse_join(request: JoinGroupRequest, settings: GroupsSettings) -> ErrorCode:
    """Why nobody may join like that, whatever the group."""
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    shortest, longest = settings.session_timeout_ms_min, settings.session_timeout_ms_max
    if not shortest <= request.session_timeout_ms <= longest:
        return ErrorCode.INVALID_SESSION_TIMEOUT
    return ErrorCode.NONE


def _missing(group_id: str) -> ErrorCode:
    return ErrorCode.UNKNOWN_MEMBER_ID if group_id else ErrorCode.INVALID_GROUP_ID
