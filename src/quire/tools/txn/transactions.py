"""What coordinators say of transactional ids.

See   KIP-664, KIP-994, KIP-1152
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from quire.clients.cluster import Cluster
from quire.clients.coordinators import Kind, ask_coordinator, ask_everybody
from quire.clients.errors import expect
from quire.errors import ErrorCode
from quire.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from quire.protocol.messages.list_transactions import ListTransactionsRequest
from quire.types import TopicPartition

STATES: Final = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort",
    "PrepareEpochFence", "Dead",
)  # fmt: skip
OPEN: Final = ("Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence")
ANY_AGE: Final = -1


class Listed(NamedTuple):
    """One transactional id in a list."""

    transactional_id: str
    coordinator: int
    producer_id: int
    state: str


class Transaction(NamedTuple):
    """One transactional id closely; `since_ms` is when its last transaction began."""

    transactional_id: str
    coordinator: int
    producer_id: int
    producer_epoch: int
    state: str
    timeout_ms: int
    since_ms: int
    partitions: tuple[TopicPartition, ...]

    @property
    def is_open(self) -> bool:
        """Whether a transaction has begun and not ended."""
        return self.state in OPEN


async def list_transactions(
    cluster: Cluster,
    *,
    states: Sequence[str] = (),
    producer_ids: Iterable[int] = (),
    longer_than_ms: int = ANY_AGE,
    pattern: str | None = None,
) -> list[Listed]:
    """Those of all coordinators, by name."""
    request = ListTransactionsRequest(
        state_filters=list(states),
        producer_id_filters=list(producer_ids),
        duration_filter=longer_than_ms,
        transactional_id_pattern=pattern,
    )
    answers = await ask_everybody(cluster, request, "the transactions")
    return sorted(
        Listed(one.transactional_id, node_id, one.producer_id, one.transaction_state)
        for node_id, answer in answers.items()
        for one in answer.transaction_states
    )


async def find_transaction(cluster: Cluster, name: str) -> Transaction:
    """One transactional id; AnswerError when no coordinator knows it."""

    async def ask(node_id: int) -> Transaction:
        request = DescribeTransactionsRequest(transactional_ids=[name])
        answer: DescribeTransactionsResponse = await cluster.ask(request, node_id=node_id)
        (one,) = answer.transaction_states
        expect(one.error_code, f"transaction {name}", _why(one.error_code))
        return Transaction(
            name,
            node_id,
            one.producer_id,
            one.producer_epoch,
            one.transaction_state,
            one.transaction_timeout_ms,
            one.transaction_start_time_ms,
            tuple(
                TopicPartition(topic.topic, partition)
                for topic in one.topics
                for partition in topic.partitions
            ),
        )

    return await ask_coordinator(cluster, Kind.TRANSACTION, name, ask)


def _why(code: int) -> str | None:
    if code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
        return "its coordinator knows no such transactional id"
    return None
