"""What is kept of one transactional id, and every way in which it changes: values in, values out.

Each change gives a new `Transaction`, to be written as it is; nothing is edited in place.

Invariants
  I1  The state follows the last one by the table of `states`.
  I2  The epoch of a producer id never goes back, and never passes 32767; the last epoch that a client is given is
      32766.
  I3  Partitions take part exactly in Ongoing and Prepare*.
Not here   who may ask for a change (machine), bytes (log).
See        KIP-98, KIP-360, KIP-890
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from quire.transactions.states import State, may_follow
from quire.types import TopicPartition

NO_PRODUCER_ID: Final = -1
NO_EPOCH: Final = -1
NO_TIME: Final = -1
EPOCH_MAX: Final = 2**15 - 1
LAST_EPOCH: Final = EPOCH_MAX - 1
"""The last one that a client is given: one more is kept to fence it with."""
EPOCH_BUMP_VERSION: Final = 2
"""Of transaction.version: from here on every transaction has an epoch of its own."""

_TAKING_PART: Final = (State.ONGOING, State.PREPARE_COMMIT, State.PREPARE_ABORT)


class ProducerId(NamedTuple):
    """A producer id and its epoch."""

    producer_id: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Transaction:
    """See the module."""

    producer_id: int
    epoch: int
    timeout_ms: int
    state: State = State.EMPTY
    partitions: tuple[TopicPartition, ...] = ()
    """In order, each once."""
    started_ms: int = NO_TIME
    updated_ms: int = NO_TIME
    previous_producer_id: int = NO_PRODUCER_ID
    """The producer id before the last change."""
    next_producer_id: int = NO_PRODUCER_ID
    """What takes the producer id's place when the end is complete, its epochs being used up."""
    client_version: int = 0
    """The transaction.version that the client goes by, as far as its requests say it."""

    @property
    def is_exhausted(self) -> bool:
        """Whether no client can be given another epoch of this producer id."""
        return self.epoch >= LAST_EPOCH

    @property
    def bumps_epoch(self) -> bool:
        return self.client_version >= EPOCH_BUMP_VERSION

    @property
    def when_complete(self) -> ProducerId:
        """Whom the client goes on as after this transaction."""
        if self.next_producer_id != NO_PRODUCER_ID and self.bumps_epoch:
            return ProducerId(self.next_producer_id, 0)
        return ProducerId(self.producer_id, self.epoch)

    def begun(self, producer_id: int, epoch: int, *, timeout_ms: int, now_ms: int) -> Transaction:
        """A producer begins, or begins anew."""
        return _changed(
            self,
            State.EMPTY,
            producer_id=producer_id,
            epoch=epoch,
            timeout_ms=timeout_ms,
            partitions=(),
            started_ms=NO_TIME,
            updated_ms=now_ms,
        )

    def with_partitions(
        self, added: tuple[TopicPartition, ...], *, client_version: int, now_ms: int
    ) -> Transaction:
        """These take part from now on."""
        return _changed(
            self,
            State.ONGOING,
            partitions=tuple(sorted({*self.partitions, *added})),
            started_ms=self.started_ms if self.state is State.ONGOING else now_ms,
            updated_ms=now_ms,
            client_version=client_version,
        )

    def ending(
        self, *, committed: bool, client_version: int, next_producer_id: int, now_ms: int
    ) -> Transaction:
        """The end is decided; where the client bumps its epoch, so does it."""
        bumps = client_version >= EPOCH_BUMP_VERSION
        return _changed(
            self,
            State.PREPARE_COMMIT if committed else State.PREPARE_ABORT,
            epoch=self._bumped() if bumps else self.epoch,
            next_producer_id=next_producer_id,
            started_ms=self.started_ms if self.state is State.ONGOING else now_ms,
            updated_ms=now_ms,
            client_version=client_version,
        )

    def fenced(self, *, client_version: int, now_ms: int) -> Transaction:
        """To be aborted, with an epoch that nobody was given: whoever writes in the last one is too late.

        One bump is enough, whatever the version: the client is never told of this epoch.
        """
        fencing = _changed(self, State.PREPARE_EPOCH_FENCE, epoch=self._bumped())
        return _changed(
            fencing, State.PREPARE_ABORT, updated_ms=now_ms, client_version=client_version
        )

    def completed(self, now_ms: int) -> Transaction:
        """Every partition has its marker."""
        goes_on = self.when_complete
        return _changed(
            self,
            State.COMPLETE_COMMIT if self.state is State.PREPARE_COMMIT else State.COMPLETE_ABORT,
            producer_id=goes_on.producer_id,
            epoch=goes_on.epoch,
            next_producer_id=NO_PRODUCER_ID,
            partitions=(),
            updated_ms=now_ms,
        )

    def check(self) -> None:
        """Assert the invariants."""
        assert 0 <= self.epoch <= EPOCH_MAX  # I2
        assert self.partitions == tuple(sorted(set(self.partitions)))
        assert not self.partitions or self.state in _TAKING_PART  # I3
        assert self.state is not State.DEAD

    def _bumped(self) -> int:
        """The highest was given to nobody: who claims to have it can only be fenced by another id (I2)."""
        return min(self.epoch + 1, EPOCH_MAX)


def _changed(one: Transaction, state: State, **changes: Any) -> Transaction:
    assert may_follow(one.state, state), f"{state.name} after {one.state.name}"  # I1
    return replace(one, state=state, previous_producer_id=one.producer_id, **changes)
