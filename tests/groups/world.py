"""One machine of groups on a log of its own, with a clock that is moved by hand.

world = World()
a = world.join("g", "a")                    an answer, or None while it waits
world.pass_ms(3000)                         timers ring in their order
world.reload()                              a machine that knows only the log
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from quire.coordination import Caller, Decision, KeyValue, Moment, Producer
from quire.errors import ErrorCode
from quire.groups.classic import ClassicGroup
from quire.groups.coordinator import GroupCoordinator
from quire.groups.offsets import FetchOffsets
from quire.groups.step import GroupsSettings
from quire.metadata.image import EMPTY, Image
from quire.protocol.compiler import codec
from quire.protocol.messages import join_group as joining
from quire.protocol.messages import offset_commit as committing
from quire.protocol.messages import offset_fetch as fetching
from quire.protocol.messages import sync_group as syncing
from quire.protocol.messages import txn_offset_commit as transacting
from quire.protocol.messages.consumer_protocol import ConsumerProtocolSubscription
from quire.protocol.messages.heartbeat import HeartbeatRequest
from quire.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from quire.sim.entropy import SeededEntropy

START_MS = 1_700_000_000_000
SESSION_MS = 10_000
REBALANCE_MS = 20_000

Logged = tuple[KeyValue, int, Producer | None]
"""A record, its offset, whose transaction it belongs to."""
Ended = tuple[Producer, bool]


def subscription(*topics: str) -> bytes:
    """What a consumer says when it joins."""
    said = ConsumerProtocolSubscription(topics=list(topics))
    return b"\x00\x00" + codec(ConsumerProtocolSubscription, 0).encode(said)


class World:
    """See the module."""

    def __init__(self, **settings: Any) -> None:
        self.settings = GroupsSettings(**settings)
        self.entropy = SeededEntropy(1)
        self.machine = self._machine()
        self.log: list[Logged | Ended] = []
        self.end_offset = 0
        self.now_ms = 0
        self.image: Image = EMPTY
        self.timers: dict[Hashable, int] = {}
        self.answers: dict[int, Any] = {}
        self.last_ticket = 0
        self.take(self.machine.loaded(self.moment()))

    def _machine(self) -> GroupCoordinator:
        return GroupCoordinator(0, lambda: self.settings, self.entropy.bytes)

    def moment(self) -> Moment:
        return Moment(START_MS + self.now_ms, self.image, self.now_ms)

    # --- the host -----------------------------------------------------------------------------

    def take(self, decision: Decision) -> None:
        for record in decision.records:
            self.log.append((record, self.end_offset, decision.producer))
            self.machine.replay(record, offset=self.end_offset, producer=decision.producer)
            self.end_offset += 1
        for answer in decision.answers:
            assert answer.ticket not in self.answers, "coordination I2"
            self.answers[answer.ticket] = answer.response
        for key, after_ms in decision.timers:
            self.timers.pop(key, None)
            if after_ms is not None:
                self.timers[key] = self.now_ms + after_ms
        self.machine.check()

    def ask(self, request: Any, version: int = 9, client: str = "client") -> int:
        """The ticket of a request."""
        self.last_ticket += 1
        caller = Caller(version, client, "/127.0.0.1")
        self.take(self.machine.command(self.last_ticket, request, caller, self.moment()))
        return self.last_ticket

    def answer(self, request: Any, version: int = 9, client: str = "client") -> Any:
        """The answer that a request gets at once."""
        return self.answers[self.ask(request, version, client)]

    def pass_ms(self, duration_ms: int) -> None:
        """Let time go by; whatever rings, rings when it should."""
        end_ms = self.now_ms + duration_ms
        while self.timers:
            key, at_ms = min(self.timers.items(), key=lambda item: item[1])
            if at_ms > end_ms:
                break
            del self.timers[key]
            self.now_ms = max(self.now_ms, at_ms)
            self.take(self.machine.on_timer(key, self.moment()))
        self.now_ms = end_ms

    def end(self, producer: Producer, *, committed: bool) -> None:
        """A marker is appended."""
        self.log.append((producer, committed))
        self.end_offset += 1
        self.machine.replay_end(producer, committed=committed)
        self.machine.check()

    def replayed(self) -> GroupCoordinator:
        """A fresh machine that was fed with the log."""
        fresh = self._machine()
        for entry in self.log:
            if isinstance(entry[0], Producer):
                fresh.replay_end(entry[0], committed=bool(entry[1]))
            else:
                record, offset, producer = entry  # type: ignore[misc]
                fresh.replay(record, offset=offset, producer=producer)
        fresh.check()
        return fresh

    def reload(self) -> None:
        """Another broker takes over: who waits is told elsewhere, only the log remains."""
        self.machine = self.replayed()
        self.timers.clear()
        self.take(self.machine.loaded(self.moment()))

    # --- what groups are asked ----------------------------------------------------------------

    def group(self, group_id: str = "g") -> ClassicGroup:
        found = self.machine.find(group_id)
        assert isinstance(found, ClassicGroup)
        return found

    def join(
        self,
        group_id: str = "g",
        member_id: str = "",
        *,
        version: int = 9,
        client: str = "client",
        instance: str | None = None,
        protocols: Mapping[str, bytes] | None = None,
        protocol_type: str = "consumer",
        session_ms: int = SESSION_MS,
        rebalance_ms: int = REBALANCE_MS,
    ) -> int:
        """The ticket of somebody who wants to join."""
        said = {"range": subscription("orders")} if protocols is None else protocols
        request = joining.JoinGroupRequest(
            group_id=group_id,
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms,
            member_id=member_id,
            group_instance_id=instance,
            protocol_type=protocol_type,
            protocols=[
                joining.JoinGroupRequestProtocol(name=name, metadata=metadata)
                for name, metadata in said.items()
            ],
        )
        return self.ask(request, version, client)

    def member_id(self, group_id: str = "g", **how: Any) -> str:
        """The id that a new dynamic member is given."""
        answer = self.answers[self.join(group_id, **how)]
        assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
        member_id: str = answer.member_id
        return member_id

    def sync(
        self,
        member_id: str,
        generation: int,
        assignments: Mapping[str, bytes] | None = None,
        group_id: str = "g",
        **more: Any,
    ) -> int:
        request = syncing.SyncGroupRequest(
            group_id=group_id,
            generation_id=generation,
            member_id=member_id,
            protocol_type=more.pop("protocol_type", "consumer"),
            protocol_name=more.pop("protocol_name", None),
            assignments=[
                syncing.SyncGroupRequestAssignment(member_id=one, assignment=assignment)
                for one, assignment in (assignments or {}).items()
            ],
            **more,
        )
        return self.ask(request, 5)

    def heartbeat(
        self, member_id: str, generation: int, instance: str | None = None, group_id: str = "g"
    ) -> ErrorCode:
        request = HeartbeatRequest(
            group_id=group_id,
            generation_id=generation,
            member_id=member_id,
            group_instance_id=instance,
        )
        return ErrorCode(self.answer(request, 4).error_code)

    def leave(self, *members: tuple[str, str | None], group_id: str = "g") -> list[ErrorCode]:
        request = LeaveGroupRequest(
            group_id=group_id,
            members=[
                MemberIdentity(member_id=member_id, group_instance_id=instance)
                for member_id, instance in members
            ],
        )
        response = self.answer(request, 5)
        if response.error_code:
            return [ErrorCode(response.error_code)]
        return [ErrorCode(one.error_code) for one in response.members]

    def stable(self, count: int = 1, group_id: str = "g", **how: Any) -> list[str]:
        """A stable group of new dynamic members; the first one leads it."""
        ids = [self.member_id(group_id, **how) for _ in range(count)]
        tickets = [self.join(group_id, one, **how) for one in ids]
        self.pass_ms(2 * self.settings.initial_rebalance_delay_ms)  # who comes second extends it
        generation = self.answers[tickets[0]].generation_id
        plan = {one: b"share of %d" % number for number, one in enumerate(ids)}
        for one in reversed(ids):
            self.sync(one, generation, plan if one == ids[0] else None, group_id)
        return ids

    # --- offsets ------------------------------------------------------------------------------

    def commit(
        self,
        offset: int,
        *,
        topic: str = "orders",
        partition: int = 0,
        group_id: str = "g",
        member_id: str = "",
        generation: int = -1,
        version: int = 9,
        metadata: str | None = "",
        topic_id: bytes = bytes(16),
        **more: Any,
    ) -> ErrorCode:
        request = committing.OffsetCommitRequest(
            group_id=group_id,
            generation_id_or_member_epoch=generation,
            member_id=member_id,
            topics=[
                committing.OffsetCommitRequestTopic(
                    name=topic,
                    topic_id=topic_id,
                    partitions=[
                        committing.OffsetCommitRequestPartition(
                            partition_index=partition,
                            committed_offset=offset,
                            committed_metadata=metadata,
                        )
                    ],
                )
            ],
            **more,
        )
        answer = self.answer(request, version)
        return ErrorCode(answer.topics[0].partitions[0].error_code)

    def commit_in(
        self,
        producer: Producer,
        offset: int,
        *,
        topic: str = "orders",
        partition: int = 0,
        group_id: str = "g",
        member_id: str = "",
        generation: int = -1,
        metadata: str = "",
    ) -> ErrorCode:
        """Commit as a part of a transaction."""
        request = transacting.TxnOffsetCommitRequest(
            transactional_id="tx",
            group_id=group_id,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            generation_id=generation,
            member_id=member_id,
            topics=[
                transacting.TxnOffsetCommitRequestTopic(
                    name=topic,
                    partitions=[
                        transacting.TxnOffsetCommitRequestPartition(
                            partition_index=partition,
                            committed_offset=offset,
                            committed_metadata=metadata,
                        )
                    ],
                )
            ],
        )
        answer = self.answer(request, 3)
        return ErrorCode(answer.topics[0].partitions[0].error_code)

    def fetched(
        self,
        *partitions: int,
        topic: str = "orders",
        group_id: str = "g",
        stable: bool = False,
        topic_id: bytes = bytes(16),
    ) -> list[int | ErrorCode]:
        """Offsets, or the errors in their place."""
        asked = fetching.OffsetFetchRequestGroup(
            group_id=group_id,
            topics=[
                fetching.OffsetFetchRequestTopics(
                    name=topic, topic_id=topic_id, partition_indexes=list(partitions or (0,))
                )
            ],
        )
        answer = self.answer(FetchOffsets(asked, stable))
        return [
            ErrorCode(one.error_code) if one.error_code else one.committed_offset
            for one in answer.topics[0].partitions
        ]

    def all_offsets(self, group_id: str = "g") -> dict[tuple[str, int], int]:
        asked = fetching.OffsetFetchRequestGroup(group_id=group_id, topics=None)
        return {
            (topic.name, one.partition_index): one.committed_offset
            for topic in self.answer(FetchOffsets(asked)).topics
            for one in topic.partitions
        }
