"""Markers: the ends of transactions on their way into the partitions that take part.

    write     into partitions that this broker leads: checked, appended, safe when the replicas have them
    Markers   carries a coordinator's decision out: every partition, by way of its leader, until all have it, and then
              tells the coordinator

Invariants
  I1  Complete is said only when every partition has the marker, or is gone with its topic.
  I2  What fails is tried again for ever, as long as this broker coordinates in the same epoch; a later coordinator
      begins anew. Only a partition that has seen a newer producer or coordinator ends it.
  I3  Of one transactional id one end at a time is carried out.
  I4  Whoever keeps a topic in memory (`Broker.hosts`) is told of a marker as soon as it is appended.
Not here   what is decided (transactions), the request (handlers.write_txn_markers), connections (node.peers).
See        KIP-98, KIP-890, KIP-1228
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final, NamedTuple

from quire.broker.broker import Broker
from quire.broker.coordinators import CoordinatorError
from quire.broker.internal_topics import TRANSACTIONS
from quire.broker.peers import Peers, PeerUnavailableError
from quire.broker.replica import Replica
from quire.broker.transactions import NOBODY
from quire.coordination import Producer
from quire.errors import ErrorCode, StorageError
from quire.protocol.messages import write_txn_markers as wire
from quire.records.control import ControlType, encode_end_transaction_marker
from quire.replication.leader import ACKS_ALL, Leader
from quire.storage.producer_state import Reject
from quire.transactions.commands import Complete, Ending
from quire.types import TopicPartition

RETRY_SECONDS: Final = 0.1
"""Before what failed is tried again."""
_OVER: Final = frozenset(
    {ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED}
)
"""Somebody newer has been there (I2)."""
_DONE: Final = frozenset(
    {ErrorCode.NONE, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, ErrorCode.UNSUPPORTED_VERSION}
)


class Marker(NamedTuple):
    """The end of one transaction, for any partition."""

    producer_id: int
    producer_epoch: int
    committed: bool
    coordinator_epoch: int
    transaction_version: int


class _Appended(NamedTuple):
    """One marker in a log, not known to be safe yet."""

    number: int
    """In the list of what is wanted."""
    replica: Replica
    leader: Leader
    end_offset: int


class _Written:
    """In the purgatory: markers that the replicas do not all have."""

    def __init__(
        self, appended: list[_Appended], codes: list[ErrorCode], done: asyncio.Future[None]
    ) -> None:
        self._left = appended
        self._codes = codes
        self._done = done

    def try_complete(self) -> bool:
        left = []
        for one in self._left:
            code = _safe(one)
            if code is None:
                left.append(one)
            else:
                self._codes[one.number] = code
        self._left = left
        if not left and not self._done.done():
            self._done.set_result(None)
        return not left

    def expire(self) -> None:
        for one in self._left:
            self._codes[one.number] = ErrorCode.REQUEST_TIMED_OUT
        if not self._done.done():
            self._done.set_result(None)


async def write(
    broker: Broker, wanted: Iterable[tuple[Marker, TopicPartition]], *, timeout_ms: int
) -> list[ErrorCode]:
    """Put markers into partitions that are led here; what became of each, once it is safe."""
    codes, appended = [], []
    for index, (marker, place) in enumerate(wanted):
        found = _append(broker, marker, place)
        if isinstance(found, ErrorCode):
            codes.append(found)
            continue
        codes.append(ErrorCode.NONE)
        one = _Appended(index, *found, found[0].log.log_end_offset)
        code = _safe(one)
        if code is None:
            appended.append(one)
        else:
            codes[index] = code
    if appended:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        broker.waiting.produce.watch(
            _Written(appended, codes, done),
            [one.replica.topic_partition for one in appended],
            deadline_ms=broker.clock.monotonic_ms() + timeout_ms,
        )
        await done
    return codes


def _append(
    broker: Broker, marker: Marker, place: TopicPartition
) -> tuple[Replica, Leader] | ErrorCode:
    replica = broker.replicas.get(*place)
    if replica is None:
        return broker.replicas.why_not(*place)
    leader = replica.leader
    if leader is None:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    code = leader.admit(ACKS_ALL)
    if code is not ErrorCode.NONE:
        return code
    verdict = replica.log.producers.check_marker(
        marker.producer_id,
        marker.producer_epoch,
        marker.coordinator_epoch,
        transaction_version=marker.transaction_version,
    )
    if isinstance(verdict, Reject):
        return verdict.code
    now_ms = broker.clock.wall_ms()
    batch = encode_end_transaction_marker(
        ControlType.COMMIT if marker.committed else ControlType.ABORT,
        coordinator_epoch=marker.coordinator_epoch,
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        timestamp=now_ms,
    )
    monotonic_ms = broker.clock.monotonic_ms()
    host = broker.hosts.get(place.topic)
    if host is not None:
        host.settle(place.partition)
    try:
        broker.replicas.append(
            replica, batch, now_ms=now_ms, monotonic_ms=monotonic_ms, from_client=False
        )
    except StorageError:
        return ErrorCode.KAFKA_STORAGE_ERROR
    if host is not None:
        producer = Producer(marker.producer_id, marker.producer_epoch)
        host.ended(place.partition, producer, committed=marker.committed)  # I4
    return replica, leader


def _safe(one: _Appended) -> ErrorCode | None:
    """What became of an appended marker; None: it is not known yet."""
    if one.replica.gone is not None:
        return one.replica.gone
    if one.replica.leader is not one.leader:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return one.leader.acknowledged(one.end_offset)


class Markers:
    """See the module."""

    def __init__(
        self,
        broker: Broker,
        peers: Peers,
        start: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]],
    ) -> None:
        self._broker = broker
        self._peers = peers
        self._start = start
        self._running: dict[tuple[int, str], asyncio.Task[None]] = {}

    def __len__(self) -> int:
        """How many ends are on their way."""
        return len(self._running)

    def on_effect(self, partition: int, ending: Any) -> None:
        """A coordinator here has decided an end, and its decision is safe."""
        assert isinstance(ending, Ending)
        replica = self._broker.replicas.get(TRANSACTIONS, partition)
        if replica is None:
            return  # whoever leads the partition now finds it there
        key = (partition, ending.transactional_id)
        earlier = self._running.pop(key, None)
        if earlier is not None:
            earlier.cancel()  # I3: of an earlier office, or it would be complete
        work = self._carry_out(partition, replica.leader_epoch, ending)
        task = self._running[key] = self._start(work, f"end {ending.transactional_id}")

        def ended(_: asyncio.Task[None]) -> None:
            if self._running.get(key) is task:
                del self._running[key]

        task.add_done_callback(ended)

    # --- inside -------------------------------------------------------------------------------

    async def _carry_out(self, partition: int, epoch: int, ending: Ending) -> None:
        marker = Marker(
            *ending.producer,
            committed=ending.committed,
            coordinator_epoch=epoch,
            transaction_version=ending.client_version,
        )
        left = ending.partitions
        while left:
            codes = await self._send(marker, left)
            if over := [place for place, code in codes.items() if code in _OVER]:
                self._say(ending, "has been overtaken", partitions=", ".join(map(str, over)))
                return
            left = tuple(place for place, code in codes.items() if code not in _DONE)
            if left:
                await asyncio.sleep(RETRY_SECONDS)
                if not self._coordinates(partition, epoch):
                    return
        await self._complete(partition, epoch, ending)

    async def _send(
        self, marker: Marker, places: Iterable[TopicPartition]
    ) -> dict[TopicPartition, ErrorCode]:
        """One try: what became of each."""
        broker = self._broker
        codes: dict[TopicPartition, ErrorCode] = {}
        by_leader: dict[int, list[TopicPartition]] = {}
        for place in places:
            topic = broker.image.topics.get(place.topic)
            if topic is None or place.partition not in topic.partitions:
                codes[place] = ErrorCode.NONE  # gone with its topic: nobody will ever read it (I1)
            else:
                by_leader.setdefault(broker.image.leader_of(place), []).append(place)
        for leader, led in by_leader.items():
            if leader == broker.node_id:
                timeout_ms = broker.layers.settings.request_timeout_ms
                wanted = [(marker, place) for place in led]
                found = await write(broker, wanted, timeout_ms=timeout_ms)
                codes |= zip(led, found, strict=True)
            else:
                codes |= await self._ask(leader, marker, led)
        return codes

    async def _ask(
        self, leader: int, marker: Marker, places: list[TopicPartition]
    ) -> dict[TopicPartition, ErrorCode]:
        """By way of another broker."""
        codes = dict.fromkeys(places, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if leader < 0:
            return codes
        try:
            answer: wire.WriteTxnMarkersResponse = await self._peers.ask(
                leader, request_of(marker, places)
            )
        except PeerUnavailableError:
            return codes
        for one in answer.markers:
            for topic in one.topics:
                for found in topic.partitions:
                    place = TopicPartition(topic.name, found.partition_index)
                    codes[place] = ErrorCode.of(found.error_code)
        return codes

    async def _complete(self, partition: int, epoch: int, ending: Ending) -> None:
        """Every partition has it (I1)."""
        command = Complete(ending.transactional_id, ending.producer)
        while self._coordinates(partition, epoch):
            try:
                await self._broker.hosts[TRANSACTIONS].ask_partition(partition, command, NOBODY)
            except CoordinatorError as refusal:
                self._say(ending, "is not complete yet", code=refusal.code.name)
                await asyncio.sleep(RETRY_SECONDS)
            else:
                return

    def _coordinates(self, partition: int, epoch: int) -> bool:
        replica = self._broker.replicas.get(TRANSACTIONS, partition)
        return replica is not None and replica.leader is not None and replica.leader_epoch == epoch

    def _say(self, ending: Ending, text: str, **facts: object) -> None:
        self._broker.journal.say(
            "transactions",
            ending.transactional_id,
            text,
            producer=ending.producer.producer_id,
            epoch=ending.producer.epoch,
            **facts,
        )


def request_of(marker: Marker, places: Iterable[TopicPartition]) -> wire.WriteTxnMarkersRequest:
    """The markers of one transaction, as another broker is asked to write them."""
    by_topic: dict[str, list[int]] = {}
    for place in places:
        by_topic.setdefault(place.topic, []).append(place.partition)
    return wire.WriteTxnMarkersRequest(
        markers=[
            wire.WritableTxnMarker(
                producer_id=marker.producer_id,
                producer_epoch=marker.producer_epoch,
                transaction_result=marker.committed,
                topics=[
                    wire.WritableTxnMarkerTopic(name=name, partition_indexes=indexes)
                    for name, indexes in by_topic.items()
                ],
                coordinator_epoch=marker.coordinator_epoch,
                transaction_version=marker.transaction_version,
            )
        ]
    )
