"""A transactional producer as its clients speak, one question at a time: begun, written with, ended.

It speaks as clients before KIP-890 do (every partition is added first, the epoch stays) or as those since (the first
record adds its partition, each end brings the next epoch).

Invariants
  I1  A question without a usable answer is asked again, a batch with the same sequence number: only what refuses the
      producer for good ends it (StartOverError).
Not here   what is written when, and who takes over (transactions).
See        KIP-98, KIP-360, KIP-890
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from quire.clients.errors import AnswerError
from quire.errors import ErrorCode
from quire.protocol.messages import add_partitions_to_txn as adding
from quire.protocol.messages import produce as producing
from quire.protocol.messages import txn_offset_commit as committing
from quire.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from quire.protocol.messages.end_txn import EndTxnRequest
from quire.protocol.messages.init_producer_id import InitProducerIdRequest
from quire.records.batch import encode_batch
from quire.records.record import Record
from quire.sim.history import Place
from quire.sim.workloads.work import PASSING_CODES, PAUSE_SECONDS, WRITTEN_MS, Line, World

TRANSACTION_KEY = 1
"""The kind of coordinator (FindCoordinator)."""
ENDS_PRODUCER = (
    ErrorCode.PRODUCER_FENCED,
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.INVALID_TXN_STATE,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    ErrorCode.TRANSACTION_ABORTABLE,
)
"""What a producer hears that was fenced, or whose transaction ran out of time."""
SECONDS = 3.0


class StartOverError(Exception):
    """The producer cannot go on as it is."""


class TransactionalProducer:
    """See the module. `topic_ids` are those of all topics that it writes to."""

    def __init__(
        self,
        name: str,
        world: World,
        topic_ids: dict[str, bytes],
        *,
        timeout_ms: int,
        adds_partitions: bool,
    ) -> None:
        self.name = name
        self._line = Line(world, name, name, TRANSACTION_KEY)
        self._world = world
        self._topic_ids = topic_ids
        self._timeout_ms = timeout_ms
        self._adds_partitions = adds_partitions
        self._producer_id = -1
        self._epoch = -1
        self._sequences: dict[Place, int] = {}
        self._added: dict[Place | str, None] = {}
        self.was_asked_again = False
        """Whether the last question was asked more than once."""

    async def begin(self) -> None:
        """Be the producer of this name; whoever was it before is fenced."""
        request = InitProducerIdRequest(
            transactional_id=self.name, transaction_timeout_ms=self._timeout_ms
        )
        answer = await self._ask(
            request, lambda told: told.error_code, version=4 if self._adds_partitions else None
        )
        self._become(answer.producer_id, answer.producer_epoch)

    async def write(self, place: Place, values: tuple[str, ...]) -> int:
        """The offset at which they are; -1 when it is not known."""
        if self._adds_partitions and place not in self._added:
            await self._add(place)
        sequence = self._sequences.get(place, 0)
        answer = await self._ask(
            self._batch(place, values, sequence),
            lambda told: told.responses[0].partition_responses[0].error_code,
            version=11 if self._adds_partitions else None,
        )
        self._sequences[place] = sequence + len(values)
        return int(answer.responses[0].partition_responses[0].base_offset)

    async def commit_offset(self, group: str, place: Place, offset: int) -> None:
        """Let the group's position move with the transaction."""
        if self._adds_partitions and group not in self._added:
            added = AddOffsetsToTxnRequest(
                transactional_id=self.name,
                producer_id=self._producer_id,
                producer_epoch=self._epoch,
                group_id=group,
            )
            await self._ask(added, lambda told: told.error_code, version=3)
            self._added[group] = None
        partition = committing.TxnOffsetCommitRequestPartition(
            partition_index=place.partition, committed_offset=offset, committed_metadata=None
        )
        request = committing.TxnOffsetCommitRequest(
            transactional_id=self.name,
            group_id=group,
            producer_id=self._producer_id,
            producer_epoch=self._epoch,
            topics=[
                committing.TxnOffsetCommitRequestTopic(name=place.topic, partitions=[partition])
            ],
        )
        await self._ask(
            request,
            lambda told: told.topics[0].partitions[0].error_code,
            version=4 if self._adds_partitions else None,
        )

    async def end(self, *, committed: bool) -> None:
        """Commit or abort."""
        request = EndTxnRequest(
            transactional_id=self.name,
            producer_id=self._producer_id,
            producer_epoch=self._epoch,
            committed=committed,
        )
        answer = await self._ask(
            request, lambda told: told.error_code, version=4 if self._adds_partitions else None
        )
        self._added.clear()
        if not self._adds_partitions:
            self._become(answer.producer_id, answer.producer_epoch)

    def hang_up(self) -> None:
        """Nothing more is to be asked."""
        self._line.hang_up()

    async def _add(self, place: Place) -> None:
        topic = adding.AddPartitionsToTxnTopic(name=place.topic, partitions=[place.partition])
        request = adding.AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.name,
            v3_and_below_producer_id=self._producer_id,
            v3_and_below_producer_epoch=self._epoch,
            v3_and_below_topics=[topic],
        )
        await self._ask(
            request,
            lambda told: (
                told.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
            ),
            version=3,
        )
        self._added[place] = None

    def _become(self, producer_id: int, epoch: int) -> None:
        self._producer_id, self._epoch = producer_id, epoch
        self._sequences.clear()
        self._added.clear()

    async def _ask(
        self, request: Any, code_of: Callable[[Any], int], *, version: int | None
    ) -> Any:
        """I1."""
        self.was_asked_again = False
        while True:
            answer = await self._line.ask(request, version=version, seconds=SECONDS)
            code = ErrorCode.REQUEST_TIMED_OUT if answer is None else ErrorCode.of(code_of(answer))
            if code is ErrorCode.NONE:
                return answer
            if code in ENDS_PRODUCER:
                what = type(request).__name__
                self._world.say(self.name, "cannot go on", asked=what, code=code.name)
                raise StartOverError(code.name)
            if not (code.retriable or code in PASSING_CODES):
                raise AnswerError(code, f"{type(request).__name__} of {self.name}")
            self.was_asked_again = True
            await asyncio.sleep(PAUSE_SECONDS)

    def _batch(
        self, place: Place, values: tuple[str, ...], sequence: int
    ) -> producing.ProduceRequest:
        batch = encode_batch(
            [Record(n, WRITTEN_MS, None, value.encode()) for n, value in enumerate(values)],
            producer_id=self._producer_id,
            producer_epoch=self._epoch,
            base_sequence=sequence,
            is_transactional=True,
        )
        data = producing.PartitionProduceData(index=place.partition, records=bytes(batch))
        topic = producing.TopicProduceData(
            name=place.topic, topic_id=self._topic_ids[place.topic], partition_data=[data]
        )
        return producing.ProduceRequest(
            transactional_id=self.name, acks=-1, timeout_ms=2000, topic_data=[topic]
        )
