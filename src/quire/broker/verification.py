"""Before a partition takes a transaction's first batch: is the partition part of it?

A leader that knows of no open transaction of the producer asks the producer's coordinator. Of newer clients (Produce
v12, TxnOffsetCommit v5) that adds the partition; of older ones, which add partitions themselves, it only asks. Between
the answer and the append a marker may come in; then what was asked does not count any more.

    Verifying         the batches of a produce request
    verify_offsets    the offsets of a group, before its coordinator keeps them

Invariants
  I1  No transactional batch is appended of which the coordinator does not know that it is in a transaction.
  I2  What was verified counts for one log until a marker of that producer is appended to it (storage drops it).
  I3  Of batches that are being verified the one with the lowest sequence is taken first.
Not here   the coordinator (transactions), the append and its checks of epochs and sequences (storage).
See        KIP-890
"""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.internal_topics import TRANSACTIONS
from quire.broker.peers import PeerUnavailableError
from quire.broker.replica import Replica
from quire.broker.transactions import ask
from quire.errors import ErrorCode
from quire.ports.disk import Bytes
from quire.protocol.messages import add_partitions_to_txn as wire
from quire.protocol.messages.produce import ProduceRequest
from quire.records.batch import BatchHeader, read_header
from quire.storage.producer_state import ProducerStates, Verification
from quire.transactions.commands import Add, Verify
from quire.transactions.transaction import EPOCH_BUMP_VERSION, ProducerId
from quire.types import TopicPartition


class Words(NamedTuple):
    """From which versions of a request on its clients know what."""

    abortable_since: int
    """TRANSACTION_ABORTABLE."""
    adds_since: int
    """Not to add partitions themselves."""


PRODUCE: Final = Words(abortable_since=11, adds_since=12)
TXN_OFFSET_COMMIT: Final = Words(abortable_since=4, adds_since=5)
_AS_NOT_ENOUGH_REPLICAS: Final = frozenset(
    {
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)
"""Old producers would not try again after these; after NOT_ENOUGH_REPLICAS they do."""


class _Question(NamedTuple):
    """One batch that the coordinator is asked of."""

    producers: ProducerStates
    header: BatchHeader
    begun: Verification


class Verifying:
    """The transactional batches of one produce request."""

    def __init__(self, broker: Broker, call: Call) -> None:
        request: ProduceRequest = call.request
        assert request.transactional_id is not None
        self._broker = broker
        self._name = request.transactional_id
        self._version = call.version
        self._questions: dict[TopicPartition, _Question] = {}
        self._codes: dict[TopicPartition, ErrorCode] = {}

    @property
    def adds(self) -> bool:
        """Whether asking adds the partition: the client does not."""
        return self._version >= PRODUCE.adds_since

    @property
    def is_needed(self) -> bool:
        return bool(self._questions)

    def consider(self, replica: Replica, records: Bytes) -> None:
        """A batch that may have to be asked of."""
        header = read_header(records)
        producers = replica.log.producers
        if self._known(producers, header) is not None:
            return
        begun = _begin(
            producers, _producer_of(header), header.base_sequence, self._broker.clock.wall_ms()
        )
        self._questions[replica.topic_partition] = _Question(producers, header, begun)

    async def ask(self) -> None:
        """Ask the coordinator; what it says is kept for `admit`."""
        asked = {_producer_of(one.header) for one in self._questions.values()}
        if len(asked) > 1:
            self._codes = dict.fromkeys(self._questions, ErrorCode.INVALID_PRODUCER_ID_MAPPING)
            return
        places = tuple(self._questions)
        question = _Asking(self._broker, self._name, asked.pop(), places, adds=self.adds)
        self._codes = await question.until_decided()

    def admit(self, replica: Replica, records: Bytes) -> ErrorCode:
        """Whether the batch may be appended, now, by what is known of its transaction (I1)."""
        header = read_header(records)
        producers = replica.log.producers
        known = self._known(producers, header)
        if known is not None:
            return known
        code = self._codes.get(replica.topic_partition, ErrorCode.INVALID_TXN_STATE)
        if code is not ErrorCode.NONE:
            return _as_known(code, self._version, PRODUCE)
        begun = self._questions[replica.topic_partition].begun
        if producers.verifying.get(header.producer_id) is not begun:
            return ErrorCode.INVALID_TXN_STATE  # I2
        if header.producer_epoch == begun.epoch and header.base_sequence > begun.lowest_sequence:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER  # I3
        return ErrorCode.NONE

    # --- inside -------------------------------------------------------------------------------

    def _known(self, producers: ProducerStates, header: BatchHeader) -> ErrorCode | None:
        """What is to be said of a batch without asking anybody."""
        settings = self._broker.layers.settings
        if header.producer_id < 0 or not (
            self.adds or settings.transaction_partition_verification_enable
        ):
            return ErrorCode.NONE
        return _known(producers, _producer_of(header))


async def verify_offsets(
    broker: Broker, name: str, producer: ProducerId, place: TopicPartition, *, version: int
) -> ErrorCode:
    """Whether offsets of a transaction may be kept in this partition of the offsets topic, now (TxnOffsetCommit)."""
    replica = broker.replicas.get(*place)
    if replica is None or replica.leader is None:
        return ErrorCode.NOT_COORDINATOR
    adds = version >= TXN_OFFSET_COMMIT.adds_since
    producers = replica.log.producers
    is_asked = adds or broker.layers.settings.transaction_partition_verification_enable
    known = _known(producers, producer) if is_asked else ErrorCode.NONE
    if known is not None:
        return known
    begun = _begin(producers, producer, 0, broker.clock.wall_ms())
    codes = await _Asking(broker, name, producer, (place,), adds=adds).until_decided()
    code = codes[place]
    if code is ErrorCode.NETWORK_EXCEPTION:
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS  # asked again, and of the same coordinator
    code = _as_known(code, version, TXN_OFFSET_COMMIT)
    if code is ErrorCode.NOT_ENOUGH_REPLICAS:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    is_void = code is ErrorCode.NONE and producers.verifying.get(producer.producer_id) is not begun
    if is_void and _known(producers, producer) is not ErrorCode.NONE:
        return ErrorCode.INVALID_TXN_STATE  # I2
    return code


class _Asking:
    """One question to one coordinator."""

    def __init__(
        self,
        broker: Broker,
        name: str,
        producer: ProducerId,
        places: tuple[TopicPartition, ...],
        *,
        adds: bool,
    ) -> None:
        self._broker = broker
        self._name = name
        self._producer = producer
        self._places = places
        self._adds = adds

    async def until_decided(self) -> dict[TopicPartition, ErrorCode]:
        """The answer; while the last transaction is still ending an addition is tried again for a moment."""
        settings, clock = self._broker.layers.settings, self._broker.clock
        patience_ms = min(
            settings.add_partitions_to_txn_retry_backoff_max_ms, settings.request_timeout_ms
        )
        until_ms = clock.monotonic_ms() + patience_ms
        pause_ms = settings.add_partitions_to_txn_retry_backoff_ms
        while True:
            codes = await self._once()
            if (
                not self._adds
                or ErrorCode.CONCURRENT_TRANSACTIONS not in codes.values()
                or clock.monotonic_ms() + pause_ms > until_ms
            ):
                return codes
            await asyncio.sleep(pause_ms / 1000)

    async def _once(self) -> dict[TopicPartition, ErrorCode]:
        broker = self._broker
        host = broker.hosts.get(TRANSACTIONS)
        partition = None if host is None else host.partition_for(self._name)
        if partition is None:
            return dict.fromkeys(self._places, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        leader = broker.image.leader_of(TopicPartition(TRANSACTIONS, partition))
        if leader == broker.node_id:
            return await self._here()
        if leader < 0:
            return dict.fromkeys(self._places, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return await self._there(leader)

    async def _here(self) -> dict[TopicPartition, ErrorCode]:
        places, producer = self._places, self._producer
        if self._adds:
            add = Add(self._name, producer, places, EPOCH_BUMP_VERSION)
            return dict.fromkeys(places, await ask(self._broker, self._name, add))
        verify = Verify(self._name, producer, places)
        answer = await ask(self._broker, self._name, verify, writes=False)
        if isinstance(answer, ErrorCode):
            return dict.fromkeys(places, answer)
        return dict(zip(places, answer, strict=True))

    async def _there(self, leader: int) -> dict[TopicPartition, ErrorCode]:
        """By way of another broker."""
        codes = dict.fromkeys(self._places, ErrorCode.NETWORK_EXCEPTION)
        try:
            answer: wire.AddPartitionsToTxnResponse = await self._broker.peers.ask(
                leader, self._request()
            )
        except PeerUnavailableError:
            return codes
        if answer.error_code:
            return dict.fromkeys(self._places, ErrorCode.of(answer.error_code))
        for transaction in answer.results_by_transaction:
            for topic in transaction.topic_results:
                for one in topic.results_by_partition:
                    place = TopicPartition(topic.name, one.partition_index)
                    codes[place] = ErrorCode.of(one.partition_error_code)
        return codes

    def _request(self) -> wire.AddPartitionsToTxnRequest:
        by_topic: dict[str, list[int]] = {}
        for place in self._places:
            by_topic.setdefault(place.topic, []).append(place.partition)
        return wire.AddPartitionsToTxnRequest(
            transactions=[
                wire.AddPartitionsToTxnTransaction(
                    transactional_id=self._name,
                    producer_id=self._producer.producer_id,
                    producer_epoch=self._producer.epoch,
                    verify_only=not self._adds,
                    topics=[
                        wire.AddPartitionsToTxnTopic(name=name, partitions=indexes)
                        for name, indexes in by_topic.items()
                    ],
                )
            ]
        )


def _begin(
    producers: ProducerStates, producer: ProducerId, sequence: int, now_ms: int
) -> Verification:
    """What is verified from now on; together with what is being verified of the producer already."""
    producer_id, epoch = producer
    begun = producers.verifying.get(producer_id)
    if begun is None or epoch > begun.epoch:
        begun = producers.verifying[producer_id] = Verification(epoch, sequence, now_ms)
    elif epoch == begun.epoch:
        begun.lowest_sequence = min(begun.lowest_sequence, sequence)
    return begun


def _known(producers: ProducerStates, producer: ProducerId) -> ErrorCode | None:
    """What the log itself says: its transaction is open, or a newer one of its kind has been here; None: nothing."""
    known = producers.get(producer.producer_id)
    if known is None:
        return None
    if known.epoch > producer.epoch:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    is_open = known.epoch == producer.epoch and known.transaction_first_offset >= 0
    return ErrorCode.NONE if is_open else None


def _producer_of(header: BatchHeader) -> ProducerId:
    return ProducerId(header.producer_id, header.producer_epoch)


def _as_known(code: ErrorCode, version: int, words: Words) -> ErrorCode:
    """The coordinator's word in those that a producer of this version knows what to do with."""
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code is ErrorCode.TRANSACTION_ABORTABLE and version < words.abortable_since:
        return ErrorCode.INVALID_TXN_STATE
    if code in _AS_NOT_ENOUGH_REPLICAS or (
        code is ErrorCode.CONCURRENT_TRANSACTIONS and version < words.adds_since
    ):
        return ErrorCode.NOT_ENOUGH_REPLICAS
    return code
