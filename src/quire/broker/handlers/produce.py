"""Produce: append batches.

Each partition is checked, appended and answered by itself. acks=0 has no answer, and the end of the connection where
anything failed; acks=1 is answered when the leader has it; acks=-1 when the high watermark has passed it, or it is too
late (REQUEST_TIMED_OUT, though it may be there). With fsync_before_ack nobody is answered before it is on the disk.

Versions   3 the lowest served (0-2 are only claimed) · 5 log start · 7 zstd · 8 record errors · 10 who leads instead
           · 13 topic ids

Batches of a transaction are appended when the coordinator knows of them; the connection holds while it is asked.

Not here   checks of one batch (appending), of its transaction (verification), rights.
See        KIP-467, KIP-516, KIP-890, KIP-896, KIP-951
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import CoroutineType
from typing import Any, Final, TypeAlias

from quire.broker import leaders
from quire.broker.appending import (
    Fit,
    check_form,
    is_heavy,
    is_transactional,
    make_fit,
    refused,
    rejected,
    without_rest,
    write,
)
from quire.broker.broker import Broker
from quire.broker.call import CLOSE, LATER, NOTHING, Call
from quire.broker.internal_topics import INTERNAL_TOPICS
from quire.broker.replica import Replica
from quire.broker.verification import Verifying
from quire.errors import ErrorCode, InvalidBatchError
from quire.ports.disk import Bytes
from quire.protocol.messages.produce import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from quire.protocol.schema import ZERO_UUID
from quire.records.validate import admit_batch
from quire.replication.leader import ACKS_ALL, Leader

OK: Final = ErrorCode.NONE
ADMIN_CLIENT_ID: Final = "__admin_client"
"""Who may write to the broker's own topics: Kafka's tools use it to repair them."""
TOPIC_IDS_SINCE: Final = 13
LEADERS_SINCE: Final = 10
ACKS_NONE: Final = 0
_NO_BATCH: Final = "what was sent is no batch of records"


_Heavy: TypeAlias = tuple[Replica, int, Bytes, list[PartitionProduceResponse]]
"""A batch that is made to fit in the background: where to, its index, its bytes, whose answers it joins."""


class _Appended:
    """One appended batch whose answer has to wait."""

    __slots__ = ("end_offset", "leader", "replica", "response")

    def __init__(
        self, replica: Replica, leader: Leader, response: PartitionProduceResponse
    ) -> None:
        self.replica = replica
        self.leader = leader
        self.end_offset = replica.log.log_end_offset
        self.response = response


class _Produce:
    """One request on its way. It is what waits in the purgatory."""

    __slots__ = (
        "_adds_partitions",
        "_broker",
        "_call",
        "_now_ms",
        "_request",
        "_unflushed",
        "_verifying",
        "_waiting",
        "response",
    )

    def __init__(self, broker: Broker, call: Call) -> None:
        self._broker = broker
        self._call = call
        self._request: ProduceRequest = call.request
        self._now_ms = broker.clock.wall_ms()
        self._waiting: list[_Appended] = []
        self._unflushed: list[PartitionProduceResponse] = []
        self._verifying: Verifying | None = None
        self._adds_partitions = False
        self.response = ProduceResponse(responses=[])

    # --- what waits ---------------------------------------------------------------------------

    def try_complete(self) -> bool:
        """Whether every batch is safe, or never will be."""
        still = []
        for one in self._waiting:
            code = one.replica.gone
            if code is None and one.replica.leader is not one.leader:
                code = ErrorCode.NOT_LEADER_OR_FOLLOWER
            if code is None:
                code = one.leader.acknowledged(one.end_offset)
            if code is None:
                still.append(one)
            elif code is not OK:
                self._fail(one, code)
        self._waiting = still
        if still or self._unflushed:
            return False
        self._call.answer(self.finish())
        return True

    def expire(self) -> None:
        for one in self._waiting:
            self._fail(one, ErrorCode.REQUEST_TIMED_OUT)
        for response in self._unflushed:
            _to_failure(response, ErrorCode.REQUEST_TIMED_OUT)
        self._waiting = []
        self._call.answer(self.finish())

    # --- the request --------------------------------------------------------------------------

    def verify(self) -> Any:
        """Begin, once the coordinator has said what it must be asked of the request's transaction."""
        verifying = self._verifying = Verifying(self._broker, self._call)
        self._adds_partitions = verifying.adds
        for name, index, records in self._transactional():
            replica = None if name is None else self._broker.replicas.get(name, index)
            if replica is not None and replica.leader is not None:
                verifying.consider(replica, records)
        if not verifying.is_needed:
            return self.begin()

        async def go_on() -> Any:
            await verifying.ask()
            self._now_ms = self._broker.clock.wall_ms()
            answer = self.begin()
            return await answer if isinstance(answer, CoroutineType) else answer

        return go_on()

    def begin(self) -> Any:
        """Append what can be appended now."""
        request = self._request
        refusal = self._refuse_all()
        heavy: list[_Heavy] = []
        for topic in _once(request.topic_data):
            answers: list[PartitionProduceResponse] = []
            name = self._name_of(topic)
            for data in topic.partition_data:
                answer = None
                if refusal is None:
                    answer = self._take_plain(name, topic.topic_id, data)
                if answer is None:
                    replica = refusal or self._admit(name, topic.topic_id, data)
                    answer = self._take(replica, data, answers, heavy)
                if answer is not None:
                    answers.append(answer)
            self.response.responses.append(
                TopicProduceResponse(
                    name=topic.name, topic_id=topic.topic_id, partition_responses=answers
                )
            )
        if heavy:
            return self._go_on_later(heavy)
        return self.wait_or_finish()

    def _take_plain(
        self, name: str | None, topic_id: bytes, data: PartitionProduceData
    ) -> PartitionProduceResponse | None:
        """The short way of a batch that is stored as it came. None: nothing has happened, take it step by step."""
        replica = None if name is None else self._broker.replicas.get(name, data.index)
        records = data.records
        if replica is None or records is None or self._verifying is not None:
            return None
        leader, admission = replica.leader, replica.admission
        if (
            leader is None
            or admission is None
            or not ACKS_ALL <= self._request.acks <= 1
            or topic_id not in (ZERO_UUID, replica.topic_id)
            or leader.admit(self._request.acks) is not OK
            or name in INTERNAL_TOPICS
        ):
            return None
        header = admit_batch(records, admission, self._now_ms)
        if header is None:
            return None
        replica.figures.produces += 1
        self._broker.metrics.all_topics.produces += 1
        return self._write(replica, data.index, (_writable(records), header), 0)

    def _take(
        self,
        replica: Replica | ErrorCode,
        data: PartitionProduceData,
        answers: list[PartitionProduceResponse],
        heavy: list[_Heavy],
    ) -> PartitionProduceResponse | None:
        """Step by step; None when it goes on in the background, which answers then."""
        if not isinstance(replica, Replica):
            text = _NO_BATCH if replica is ErrorCode.CORRUPT_MESSAGE else None
            return rejected(self._broker, None, data.index, replica, text=text)
        assert data.records is not None
        records = without_rest(data.records)
        if is_heavy(records, replica.compression):
            if replica.compression is not None:
                replica.figures.recompressions += 1
            heavy.append((replica, data.index, records, answers))
            return None
        fit = make_fit(replica, _writable(records), self._now_ms)
        self._settle(replica)
        return self._write(replica, data.index, fit, len(records))

    def wait_or_finish(self) -> Any:
        """The answer, or LATER while something is not safe yet."""
        if not self._waiting and not self._unflushed:
            return self.finish()
        keys = [*(one.replica.topic_partition for one in self._waiting), self._call]
        deadline_ms = self._broker.clock.monotonic_ms() + self._request.timeout_ms
        self._broker.waiting.produce.watch(self, keys, deadline_ms=deadline_ms)
        return LATER

    def finish(self) -> Any:
        """What is answered, or done, now that everything is decided."""
        quotas = self._broker.quotas
        call = self._call
        throttle_ms = (
            quotas.produced(call.client, call.client_id, call.size) if quotas.active else 0
        )
        has_failed = False
        for topic in self.response.responses:
            for one in topic.partition_responses:
                if one.error_code:
                    has_failed = True
        if self._request.acks == ACKS_NONE:
            call.throttle_ms = throttle_ms
            return CLOSE if has_failed else NOTHING
        self.response.throttle_time_ms = throttle_ms
        if has_failed and call.version >= LEADERS_SINCE:
            self._tell_leaders()
        return self.response

    # --- inside -------------------------------------------------------------------------------

    def _refuse_all(self) -> ErrorCode | None:
        """Why nothing of the request is taken."""
        if self._request.transactional_id is None:
            for topic in self._request.topic_data:
                for data in topic.partition_data:
                    if is_transactional(data.records):
                        return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        return None

    def _name_of(self, topic: TopicProduceData) -> str | None:
        if self._call.version >= TOPIC_IDS_SINCE:
            return self._broker.image.topic_names.get(topic.topic_id)
        return topic.name

    def _transactional(self) -> Iterator[tuple[str | None, int, Bytes]]:
        """The batches that claim to be part of a transaction, and have a form that allows to say so."""
        for topic in self._request.topic_data:
            for data in topic.partition_data:
                records = data.records
                if records is None or not is_transactional(records):
                    continue
                if check_form(records, self._call.version)[0] is OK:
                    yield self._name_of(topic), data.index, records

    def _admit(
        self, name: str | None, topic_id: bytes, data: PartitionProduceData
    ) -> Replica | ErrorCode:
        """The replica that may take the batch, or why none may."""
        broker, request, call = self._broker, self._request, self._call
        index, records = data.index, data.records
        if name is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        replica = broker.replicas.get(name, index)
        absent = OK if replica is not None else broker.replicas.why_not(name, index)
        if absent is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return absent
        code, _ = check_form(records, call.version)
        if code is not OK:
            return code
        if not ACKS_ALL <= request.acks <= 1:
            return ErrorCode.INVALID_REQUIRED_ACKS
        if name in INTERNAL_TOPICS and call.client_id != ADMIN_CLIENT_ID:
            return ErrorCode.INVALID_TOPIC_EXCEPTION
        if replica is None:
            return absent
        leader = replica.leader
        if leader is None:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        replica.figures.produces += 1
        broker.metrics.all_topics.produces += 1
        if self._verifying is not None and records is not None and is_transactional(records):
            code = self._verifying.admit(replica, records)
            if code is not OK:
                return code
        code = leader.admit(request.acks)
        if code is OK and topic_id not in (ZERO_UUID, replica.topic_id):
            code = ErrorCode.UNKNOWN_TOPIC_ID  # its name is another topic's by now
        return replica if code is OK else code

    def _settle(self, replica: Replica) -> None:
        """What a coordinator has replayed stands in its log before what is written past it."""
        topic, partition = replica.topic_partition
        host = self._broker.hosts.get(topic)
        if host is not None:
            host.settle(partition)

    def _write(
        self, replica: Replica, index: int, fit: Fit | InvalidBatchError, size: int
    ) -> PartitionProduceResponse:
        broker = self._broker
        if isinstance(fit, InvalidBatchError):
            return refused(broker, replica, index, fit, size)
        leader = replica.leader
        if leader is None or replica.gone is not None:  # while it was made to fit
            return rejected(broker, None, index, replica.gone or ErrorCode.NOT_LEADER_OR_FOLLOWER)
        response = write(
            broker,
            replica,
            index,
            fit,
            now_ms=self._now_ms,
            monotonic_ms=self._call.received_ms,
            requires_sequence_zero=self._adds_partitions,
        )
        if response.error_code == OK:
            self._make_safe(replica, leader, response)
        return response

    def _make_safe(
        self, replica: Replica, leader: Leader, response: PartitionProduceResponse
    ) -> None:
        """Note what has to happen before the batch may be acknowledged."""
        log = replica.log
        if self._request.acks == ACKS_ALL and log.high_watermark < log.log_end_offset:
            self._waiting.append(_Appended(replica, leader, response))
        if log.settings.fsync_before_ack and self._request.acks != ACKS_NONE:
            self._unflushed.append(response)
            broker = self._broker
            broker.replicas.flushes.when_durable(
                replica, log.log_end_offset, partial(self._flushed, replica, response)
            )

    def _flushed(
        self,
        replica: Replica,
        response: PartitionProduceResponse,
        is_durable: bool,  # noqa: FBT001
    ) -> None:
        self._unflushed = [one for one in self._unflushed if one is not response]
        if not is_durable:
            _to_failure(response, replica.gone or ErrorCode.KAFKA_STORAGE_ERROR)
        if not self._unflushed:
            self._broker.waiting.produce.changed(self._call)

    def _fail(self, one: _Appended, code: ErrorCode) -> None:
        self._broker.metrics.failed(0, code)
        _to_failure(one.response, code)

    async def _go_on_later(self, heavy: list[_Heavy]) -> Any:
        """Unpack and compress in the background; the connection holds, so that the order stays."""
        now_ms = self._now_ms

        def work() -> list[Fit | InvalidBatchError]:
            return [
                make_fit(replica, _writable(records), now_ms) for replica, _, records, _ in heavy
            ]

        fits = await self._broker.background.run(work)
        for (replica, index, records, answers), fit in zip(heavy, fits, strict=True):
            self._settle(replica)
            answers.append(self._write(replica, index, fit, len(records)))
        return self.wait_or_finish()

    def _tell_leaders(self) -> None:
        """Who leads the partitions that we do not (KIP-951)."""
        image, listener = self._broker.image, self._call.client.listener
        found: dict[int, leaders.LeaderAddress] = {}
        for topic in self.response.responses:
            name: str | None = topic.name
            if self._call.version >= TOPIC_IDS_SINCE:
                name = image.topic_names.get(topic.topic_id)
            for answer in topic.partition_responses:
                if answer.error_code != ErrorCode.NOT_LEADER_OR_FOLLOWER or name is None:
                    continue
                hint = leaders.hint(image, name, answer.index)
                if hint is None:
                    continue
                answer.current_leader = LeaderIdAndEpoch(
                    leader_id=hint.leader_id, leader_epoch=hint.leader_epoch
                )
                address = leaders.address(image, hint.leader_id, listener)
                if address is not None:
                    found[address.node_id] = address
        self.response.node_endpoints = [
            NodeEndpoint(node_id=one.node_id, host=one.host, port=one.port, rack=one.rack)
            for one in found.values()
        ]


def handle(broker: Broker, call: Call) -> Any:
    """Answer, or wait; see the module."""
    produce = _Produce(broker, call)
    return produce.begin() if call.request.transactional_id is None else produce.verify()


def _once(topics: list[TopicProduceData]) -> list[TopicProduceData]:
    """Each topic and partition once: the last batch for a partition is the one that counts."""
    if len(topics) == 1 and len(topics[0].partition_data) == 1:
        return topics
    found: dict[tuple[str, bytes], dict[int, PartitionProduceData]] = {}
    for topic in topics:
        parts = found.setdefault((topic.name, bytes(topic.topic_id)), {})
        parts.update({data.index: data for data in topic.partition_data})
    return [
        TopicProduceData(name=name, topic_id=topic_id, partition_data=list(parts.values()))
        for (name, topic_id), parts in found.items()
    ]


def _to_failure(response: PartitionProduceResponse, code: ErrorCode) -> None:
    response.error_code = code
    response.base_offset = response.log_append_time_ms = response.log_start_offset = -1


def _writable(records: Bytes) -> bytearray | memoryview:
    """The batch where offsets can be stamped into it: in the received frame, if that can be written."""
    view = memoryview(records)
    return bytearray(view) if view.readonly else view
