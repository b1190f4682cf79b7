"""The machine of one partition of `__consumer_offsets`: it finds the group that a command is for, and asks it.

    hard state   `stored`, the fold of the records; a machine that is fed with them again has the same
    soft state   one object for each group that is in use (directory): who waits, timers, votes; thrown away with it

A group is of one kind at a time (kinds). Commands that any kind understands (offsets, deletion, lists) go through
what kinds have in common; those of the classic protocol go to `joining` and `membership`, or, when the group is a
consumer group, to `consumer_classic`; those of the new one to `consumer_commands`. A group of another kind refuses
them.

Invariants
  I1  coordination I1-I3.
  I2  A classic group that is stored with members is stable, and has their sessions' timers, once `loaded` is done.
Not here   the log, waiting for it, where a key belongs (broker.coordinators); who may ask (broker.dispatch).
See        docs/decisions/0009-controller-is-a-replayed-machine.md, 0012, KIP-62, KIP-848
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
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
from quire.groups import consumer_classic, consumer_commands, offsets, rebalance
from quire.groups.classic import ClassicGroup
from quire.groups.consumer_describing import DescribeConsumerGroup, describe_consumer_group
from quire.groups.consumer_group import ConsumerGroup
from quire.groups.consumer_leaving import watch
from quire.groups.consumer_sessions import KINDS as CONSUMER_TIMERS
from quire.groups.describing import DeleteGroups, DescribeGroup, ListGroups, describe, listed
from quire.groups.directory import Directory
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
from quire.metadata.image import Image
from quire.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from quire.protocol.messages.delete_groups import DeletableGroupResult
from quire.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from quire.protocol.messages.join_group import JoinGroupRequest
from quire.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from quire.protocol.messages.list_groups import ListedGroup
from quire.protocol.messages.offset_commit import OffsetCommitRequest
from quire.protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from quire.protocol.messages.offset_fetch import OffsetFetchResponseGroup
from quire.protocol.messages.sync_group import SyncGroupRequest
from quire.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest

GROUP_ID_NOT_FOUND_SINCE: Final = 9
"""From this version of OffsetCommit on a missing group is told as such."""
EVERYTHING: Final = ListGroups()
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
        self._groups = Directory(self.stored)
        self._commands: Mapping[type, Command] = {
            JoinGroupRequest: self._join,
            SyncGroupRequest: self._sync,
            HeartbeatRequest: self._heartbeat,
            LeaveGroupRequest: self._leave,
            ConsumerGroupHeartbeatRequest: self._consumer_heartbeat,
            DescribeConsumerGroup: self._describe_consumer_group,
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
        for group_id in self.stored.consumers:
            consumer = self._groups.find(group_id)
            assert isinstance(consumer, ConsumerGroup)
            watch(consumer, step)
        for group_id, stored in self.stored.groups.items():
            if not stored.members:
                continue
            group = self._groups.put_classic(ClassicGroup.of(group_id, stored))
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
        if kind in CONSUMER_TIMERS:
            consumer_commands.on_timer(self._groups, step, kind, group_id, member_id)
            return step.decision()
        group = self._groups.classic.get(group_id)
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
        self._groups.check()

    # --- groups -------------------------------------------------------------------------------

    def listed(self, asked: ListGroups = EVERYTHING) -> list[ListedGroup]:
        """The groups of this partition that pass the filters."""
        return listed(self._groups.all(), asked)

    def find(self, group_id: str) -> Group | None:
        """The group, of whatever kind; None where there is none."""
        return self._groups.find(group_id)

    def _find_named(self, group_id: str) -> Group | None:
        return self.find(group_id) if group_id else None

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
        if code is ErrorCode.NONE and not (group is None or isinstance(group, ClassicGroup)):
            if not group.is_empty and isinstance(group, ConsumerGroup):
                consumer_commands.on_join(
                    self._groups, group, step, Joiner(ticket, request, caller)
                )
                return step.decision()
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
            group = self._groups.put_classic(ClassicGroup(group_id, moment.now_ms))
            step.records.append(group.record())
        join(group, step, Joiner(ticket, request, caller))
        return step.decision()

    def _sync(
        self, ticket: Ticket, request: SyncGroupRequest, _caller: Caller, moment: Moment
    ) -> Decision:
        step = self._step(moment)
        group = self._find_named(request.group_id)
        if isinstance(group, ClassicGroup):
            sync(group, step, ticket, request)
        elif isinstance(group, ConsumerGroup):
            consumer_classic.sync(group, step, ticket, request)
        else:
            rebalance.refuse_sync(step, ticket, _missing(request.group_id))
        return step.decision()

    def _heartbeat(
        self, ticket: Ticket, request: HeartbeatRequest, _caller: Caller, moment: Moment
    ) -> Decision:
        group = self._find_named(request.group_id)
        step = self._step(moment)
        if isinstance(group, ClassicGroup):
            code = heartbeat(group, step, request)
        elif isinstance(group, ConsumerGroup):
            code = consumer_classic.heartbeat(group, step, request)
        else:
            code = _missing(request.group_id)
        step.answer(ticket, HeartbeatResponse(error_code=code))
        return step.decision()

    def _leave(
        self, ticket: Ticket, request: LeaveGroupRequest, _caller: Caller, moment: Moment
    ) -> Decision:
        group = self._find_named(request.group_id)
        step = self._step(moment)
        if not request.group_id:
            step.answer(
                ticket, LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID, members=[])
            )
        elif isinstance(group, ClassicGroup):
            step.answer(ticket, leave(group, step, request))
        elif isinstance(group, ConsumerGroup):
            step.answer(ticket, consumer_commands.on_leave(self._groups, group, step, request))
        else:
            step.answer(ticket, leave_nothing(request))
        return step.decision()

    # --- the new protocol ---------------------------------------------------------------------

    def _consumer_heartbeat(
        self, ticket: Ticket, request: ConsumerGroupHeartbeatRequest, caller: Caller, moment: Moment
    ) -> Decision:
        step = self._step(moment)
        consumer_commands.on_heartbeat(self._groups, step, ticket, request, caller)
        return step.decision()

    def _describe_consumer_group(
        self, ticket: Ticket, request: DescribeConsumerGroup, _caller: Caller, moment: Moment
    ) -> Decision:
        step = self._step(moment)
        group = self.find(request.group_id)
        step.answer(ticket, describe_consumer_group(request.group_id, group, step))
        return step.decision()

    # --- offsets ------------------------------------------------------------------------------

    def _commit(
        self, ticket: Ticket, request: OffsetCommitRequest, caller: Caller, moment: Moment
    ) -> Decision:
        group = self._groups.classic.get(request.group_id) or self.find(request.group_id)
        epoch = request.generation_id_or_member_epoch
        claim = Claim(request.member_id, request.group_instance_id, epoch, version=caller.version)
        if group is None:
            code = ErrorCode.NONE
            if epoch >= 0:
                by_name = caller.version >= GROUP_ID_NOT_FOUND_SINCE
                code = ErrorCode.GROUP_ID_NOT_FOUND if by_name else ErrorCode.ILLEGAL_GENERATION
        else:
            code = _refuse_commit(group, claim, request.topics, moment.image)
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
        claim = Claim(
            request.member_id,
            request.group_instance_id,
            request.generation_id,
            is_transactional=True,
            version=caller.version,
        )
        if group is None:
            code = ErrorCode.NONE if request.generation_id < 0 else ErrorCode.ILLEGAL_GENERATION
        else:
            code = _refuse_commit(group, claim, request.topics, moment.image)
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
        is_nobody = asked.member_id is None and asked.member_epoch < 0
        if group is not None and not is_nobody:
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
        return Decision(answers=(Answer(ticket, self.listed(request)),))

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
        for group in self._groups.all():
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
        self._groups.drop(group.group_id)


def _refuse_commit(group: Group, claim: Claim, topics: Iterable[Any], image: Image) -> ErrorCode:
    """Why a group does not take a commit; one that comes late is looked at partition by partition."""
    code = group.refuse_commit(claim)
    if code is not ErrorCode.NONE or not isinstance(group, ConsumerGroup):
        return code
    if not group.is_late(claim):
        return ErrorCode.NONE
    for topic in topics:
        known = image.topics.get(topic.name)
        topic_id = b"" if known is None else known.topic_id
        for one in topic.partitions:
            code = group.refuse_partition(claim, topic_id, one.partition_index)
            if code is not ErrorCode.NONE:
                return code
    return ErrorCode.NONE


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
