"""What can be asked of the coordinator of transactions, what it answers, and what it has done for it.

Commands are smaller than requests: one for each transactional id, without what only the wire needs.

Not here   how they are decided (machine), requests and their versions (the broker's handlers).
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from quire.errors import ErrorCode
from quire.transactions.transaction import NO_EPOCH, NO_PRODUCER_ID, ProducerId, Transaction
from quire.types import TopicPartition


class Need(Enum):
    """What a command lacks; whoever asked gets it and asks again."""

    PRODUCER_ID = "a producer id that nobody else has"


NEEDS_PRODUCER_ID: Final = Need.PRODUCER_ID


class Init(NamedTuple):
    """A producer begins; answered with a `Producer`, or `NEEDS_PRODUCER_ID`."""

    transactional_id: str
    timeout_ms: int
    expected: ProducerId | None = None
    """Who it says it is, if it says so."""
    fresh_id: int | None = None


class Add(NamedTuple):
    """These partitions shall take part; answered with an ErrorCode."""

    transactional_id: str
    producer: ProducerId
    partitions: tuple[TopicPartition, ...]
    client_version: int


class Verify(NamedTuple):
    """Do these partitions take part? Answered with an ErrorCode for each, in their order."""

    transactional_id: str
    producer: ProducerId
    partitions: tuple[TopicPartition, ...]


class End(NamedTuple):
    """Commit or abort; answered with a `Producer`, or `NEEDS_PRODUCER_ID`."""

    transactional_id: str
    producer: ProducerId
    committed: bool
    client_version: int
    fresh_id: int | None = None


class Complete(NamedTuple):
    """Every partition has the marker of this producer; answered with None."""

    transactional_id: str
    producer: ProducerId


class Describe(NamedTuple):
    """Answered with the `Transaction`, or None."""

    transactional_id: str


class ListAll(NamedTuple):
    """Answered with (transactional id, transaction) for all that there are, in the order of the ids."""


class Producer(NamedTuple):
    """As whom to go on, or why not."""

    code: ErrorCode
    producer_id: int = NO_PRODUCER_ID
    epoch: int = NO_EPOCH


class Ending(NamedTuple):
    """Effect: write these markers, again and again until all partitions have them, then say `Complete`."""

    transactional_id: str
    producer: ProducerId
    committed: bool
    partitions: tuple[TopicPartition, ...]
    client_version: int


def ending_of(transactional_id: str, one: Transaction, *, committed: bool) -> Ending:
    return Ending(
        transactional_id,
        ProducerId(one.producer_id, one.epoch),
        committed,
        one.partitions,
        one.client_version,
    )
