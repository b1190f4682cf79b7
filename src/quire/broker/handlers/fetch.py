"""Fetch: read batches, and wait for them.

An answer is given at once when it has at least min_bytes, an error, a diverging epoch or nothing to wait for; else
when enough was appended, when something changed that the fetcher must know, or when max_wait_ms is over. Partitions are
served in the order of the session; the first that has records gives at least one batch, however small the limits are.

Versions   4 the lowest: isolation · 7 sessions · 9 leader epochs · 11 racks, and followers may serve · 12 last fetched
           epochs · 13 topic ids · 15 who follows is in a tag · 16 who leads instead · 17 directories
           · 18 high watermarks

Not here   one partition (reading), sessions (fetch_sessions), the quorum's fetches (the node's quorum).
See        KIP-227, KIP-320, KIP-392, KIP-516, KIP-595, KIP-951
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from quire.broker import leaders
from quire.broker.broker import Broker
from quire.broker.call import HOLD, Call
from quire.broker.fetch_sessions import FetchContext, Found, PartitionKey, Wanted
from quire.broker.reading import READ_COMMITTED, Reader, read, size_of, unknown
from quire.broker.replica import Replica
from quire.errors import ErrorCode
from quire.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from quire.replication.leader import NO_EPOCH
from quire.storage.lookup import bytes_between
from quire.storage.segment import Segment

OK: Final = ErrorCode.NONE
SESSIONS_SINCE: Final = 7
TOPIC_IDS_SINCE: Final = 13
SERVED_BY_FOLLOWERS_SINCE: Final = 11
REPLICA_STATE_SINCE: Final = 15
LEADERS_SINCE: Final = 16
MAX_INT: Final = 2**31 - 1
_SENT_AWAY: Final = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


class _Place:
    """Where a partition's fetch waits: behind which byte."""

    __slots__ = ("position", "replica", "segment", "wanted")

    def __init__(self, replica: Replica, wanted: Wanted) -> None:
        self.replica = replica
        self.wanted = wanted
        active = replica.log.segments.active
        self.segment: Segment = active
        is_at_end = wanted.fetch_offset == replica.log.log_end_offset
        self.position = active.size if is_at_end else -1


class _Fetch:
    """One request on its way. It is what waits in the purgatory."""

    __slots__ = (
        "_broker",
        "_call",
        "_context",
        "_max_bytes",
        "_min_bytes",
        "_places",
        "_reader",
        "_request",
        "_uses_ids",
    )

    def __init__(self, broker: Broker, call: Call, context: FetchContext, reader: Reader) -> None:
        request: FetchRequest = call.request
        self._broker = broker
        self._call = call
        self._request = request
        self._context = context
        self._reader = reader
        self._uses_ids = call.version >= TOPIC_IDS_SINCE
        bound = MAX_INT if reader.is_follower else broker.layers.settings.fetch_max_bytes
        self._max_bytes = min(request.max_bytes, bound)
        self._min_bytes = min(request.min_bytes, self._max_bytes)
        self._places: list[_Place] = []

    def begin(self) -> Any:
        """The answer, or HOLD while there is not enough."""
        found, size = self._read()
        request = self._request
        if (
            request.max_wait_ms <= 0
            or size >= self._min_bytes
            or not found
            or any(one.error_code or one.diverging_epoch.epoch >= 0 for one in found.values())
        ):
            return self._answer(found, size)
        self._places = [
            _Place(replica, wanted)
            for key, wanted in self._context.wanted.items()
            if (replica := self._replica(key)) is not None
        ]
        keys = [*(one.replica.topic_partition for one in self._places), self._call]
        deadline_ms = self._broker.clock.monotonic_ms() + request.max_wait_ms
        self._broker.waiting.fetch.watch(self, keys, deadline_ms=deadline_ms)
        return HOLD

    # --- waiting ------------------------------------------------------------------------------

    def try_complete(self) -> bool:
        """Whether there is enough now, or something that must be told."""
        available = 0
        for place in self._places:
            replica, wanted = place.replica, place.wanted
            check = replica.check_leader if self._reader.only_leader else replica.check_replica
            if check(wanted.current_leader_epoch) is not OK:
                break
            log = replica.log
            bound = self._reader.bound(replica)
            if wanted.fetch_offset >= bound:
                if wanted.fetch_offset < log.log_start_offset:
                    break
                continue
            active = log.segments.active
            if active is not place.segment:
                break  # it waits in a segment that is sealed: there is a whole one to read
            if self._min_bytes <= 1:
                available = 1
            elif place.position >= 0 and bound == log.log_end_offset:
                available += min(active.size - place.position, wanted.max_bytes)
            else:
                between = bytes_between(log, wanted.fetch_offset, bound)
                available += min(between, wanted.max_bytes)
            if available >= self._min_bytes:
                break
        else:
            return False
        self.expire()
        return True

    def expire(self) -> None:
        """Answer with what there is."""
        self._call.answer(self._answer(*self._read()))

    # --- reading ------------------------------------------------------------------------------

    def _read(self) -> tuple[dict[PartitionKey, PartitionData], int]:
        """What each partition says, and the bytes of all records."""
        left = self._max_bytes
        total = 0
        found: dict[PartitionKey, PartitionData] = {}
        metrics = self._broker.metrics
        for key, wanted in self._context.wanted.items():
            replica = self._replica(key)
            if replica is None:
                found[key] = unknown(key[1], self._why_not(key))
                continue
            one = read(
                self._broker,
                replica,
                wanted,
                self._reader,
                max_bytes=min(wanted.max_bytes, left),
                min_one=not total,
            )
            size = size_of(one)
            total += size
            left = max(0, left - size)
            found[key] = one
            replica.figures.fetches += 1
            metrics.all_topics.fetches += 1
            if one.error_code:
                replica.figures.failed_fetches += 1
        return found, total

    def _replica(self, key: PartitionKey) -> Replica | None:
        topic, index = key
        if isinstance(topic, bytes):
            return self._broker.replicas.by_id(topic, index)
        return self._broker.replicas.get(topic, index)

    def _why_not(self, key: PartitionKey) -> ErrorCode:
        name: str | bytes | None = key[0]
        if isinstance(name, bytes):
            name = self._broker.image.topic_names.get(name)
        if name is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        assert isinstance(name, str)
        return self._broker.replicas.why_not(name, key[1])

    # --- answering ----------------------------------------------------------------------------

    def _answer(self, found: dict[PartitionKey, PartitionData], size: int) -> FetchResponse:
        broker, call, context = self._broker, self._call, self._context
        response = FetchResponse(
            throttle_time_ms=0, error_code=0, session_id=context.session_id, responses=[]
        )
        quotas = broker.quotas
        if quotas.active and not self._reader.is_follower:
            response.throttle_time_ms = quotas.fetched(call.client, call.client_id, size)
            if response.throttle_time_ms > 0:
                quotas.not_fetched(call.client, call.client_id, size)
                return response
        told: Iterable[PartitionKey] = found
        if context.session_id:
            told = context.finish(
                {
                    key: Found(
                        ErrorCode.of(one.error_code),
                        bool(one.records),
                        one.high_watermark,
                        one.log_start_offset,
                        one.diverging_epoch.epoch >= 0,
                    )
                    for key, one in found.items()
                }
            )
        errors = False
        topics = response.responses
        last: str | bytes | None = None
        for key in told:
            one = found[key]
            if key[0] != last:
                last = key[0]
                topics.append(
                    FetchableTopicResponse(topic_id=last, partitions=[])
                    if isinstance(last, bytes)
                    else FetchableTopicResponse(topic=last, partitions=[])
                )
            topics[-1].partitions.append(one)
            if one.error_code:
                errors = True
                broker.metrics.all_topics.failed_fetches += 1
                broker.metrics.failed(1, one.error_code)
            elif one.records:
                self._count(key, one)
        if errors and call.version >= LEADERS_SINCE:
            self._tell_leaders(response)
        return response

    def _count(self, key: PartitionKey, one: PartitionData) -> None:
        replica = self._replica(key)
        size = size_of(one)
        for figures in (
            self._broker.metrics.all_topics,
            *(() if replica is None else (replica.figures,)),
        ):
            if self._reader.is_follower:
                figures.replication_bytes_out += size
            else:
                figures.bytes_out += size

    def _tell_leaders(self, response: FetchResponse) -> None:
        """Who leads the partitions that we do not (KIP-951)."""
        # brokers know each other's addresses
        listener = "" if self._reader.is_follower else self._call.client.listener
        image = self._broker.image
        found: dict[int, leaders.LeaderAddress] = {}
        for topic in response.responses:
            name = image.topic_names.get(topic.topic_id)
            for one in topic.partitions:
                if one.error_code not in _SENT_AWAY or name is None:
                    continue
                hint = leaders.hint(image, name, one.partition_index)
                if hint is None:
                    continue
                one.current_leader = LeaderIdAndEpoch(
                    leader_id=hint.leader_id, leader_epoch=hint.leader_epoch
                )
                address = leaders.address(image, hint.leader_id, listener)
                if address is not None:
                    found[address.node_id] = address
        response.node_endpoints = [
            NodeEndpoint(node_id=one.node_id, host=one.host, port=one.port, rack=one.rack)
            for one in found.values()
        ]


def handle(broker: Broker, call: Call) -> Any:
    """Answer, or wait; see the module."""
    request: FetchRequest = call.request
    version = call.version
    uses_ids = version >= TOPIC_IDS_SINCE
    if not 0 <= request.isolation_level <= READ_COMMITTED:
        return _refuse_all(request, version)
    replica_id, broker_epoch = request.replica_id, -1
    if version >= REPLICA_STATE_SINCE:
        replica_id = request.replica_state.replica_id
        broker_epoch = request.replica_state.replica_epoch
    reader = Reader(
        replica_id,
        broker_epoch,
        request.isolation_level,
        replica_id >= 0 or version < SERVED_BY_FOLLOWERS_SINCE,
    )
    wanted: dict[PartitionKey, Wanted] = {}
    for topic in request.topics:
        name = topic.topic_id if uses_ids else topic.topic
        for one in topic.partitions:
            wanted[name, one.partition] = Wanted(
                one.fetch_offset,
                one.partition_max_bytes,
                max(one.current_leader_epoch, NO_EPOCH),
                max(one.last_fetched_epoch, NO_EPOCH),
                one.log_start_offset,
            )
    forgotten = [
        (topic.topic_id if uses_ids else topic.topic, index)
        for topic in request.forgotten_topics_data
        for index in topic.partitions
    ]
    context = broker.fetch_sessions.begin(
        request.session_id,
        request.session_epoch,
        wanted,
        forgotten,
        uses_topic_ids=uses_ids,
        is_follower=reader.is_follower,
        now_ms=call.received_ms,
    )
    if isinstance(context, ErrorCode):
        broker.metrics.failed(1, context)
        return FetchResponse(throttle_time_ms=0, error_code=context, session_id=0, responses=[])
    return _Fetch(broker, call, context, reader).begin()


def _refuse_all(request: FetchRequest, version: int) -> FetchResponse:
    """What Kafka answers to a request that makes no sense at all."""
    code = ErrorCode.UNKNOWN_SERVER_ERROR
    topics = [] if version >= TOPIC_IDS_SINCE else request.topics
    return FetchResponse(
        throttle_time_ms=0,
        error_code=code,
        session_id=0 if version < SESSIONS_SINCE else request.session_id,
        responses=[
            FetchableTopicResponse(
                topic=topic.topic,
                partitions=[unknown(one.partition, code) for one in topic.partitions],
            )
            for topic in topics
        ],
    )
