"""The coordinator of transactions of one partition: who may write in whose name, and how each transaction ends.

    Init, Add, End      from producers (and from leaders that add partitions for them)
    Verify              from leaders: do these partitions take part?
    Complete            from our own broker: the markers are written
    timers              too old: aborted; not used for long: forgotten

Whatever is decided is written before it is answered; the end of a transaction is written (Prepare*) before any marker,
and markers before Complete*. A coordinator that takes over sends the markers of every Prepare* that it finds: again,
maybe, which does no harm.

Invariants
  I1  What is kept of the ids is the fold of the log; commands and timers change it by records only.
  I2  From Prepare* only Complete* follows: an end that is decided is carried out.
  I3  A producer with another id or epoch than the transaction's changes nothing, but for repeats of its own last words.
  I4  `_last_epochs` may be lost at any moment: a producer is then fenced that could have gone on, and no other harm.
Not here   markers on their way (broker.markers), which partitions exist (handlers), groups' offsets.
See        docs/decisions/0009-controller-is-a-replayed-machine.md for the shape, KIP-98, KIP-360, KIP-664, KIP-890
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from quire.coordination import (
    NOTHING,
    Answer,
    Caller,
    Decision,
    KeyValue,
    Moment,
    Ticket,
    Timer,
)
from quire.coordination import Producer as BatchOwner
from quire.errors import ErrorCode
from quire.metadata.features import TRANSACTION_VERSION
from quire.metadata.image import Image
from quire.transactions import ends
from quire.transactions.commands import (
    NEEDS_PRODUCER_ID,
    Add,
    Complete,
    Describe,
    End,
    Init,
    ListAll,
    Need,
    Producer,
    Verify,
    ending_of,
)
from quire.transactions.log import forgotten, read_key, read_value, written
from quire.transactions.states import State
from quire.transactions.transaction import (
    EPOCH_BUMP_VERSION,
    LAST_EPOCH,
    NO_EPOCH,
    NO_PRODUCER_ID,
    ProducerId,
    Transaction,
)

LOOK_FOR_TIMEOUTS: Final = "abort what is too old"
LOOK_FOR_EXPIRED: Final = "forget what is not used"
AT_ONCE_MAX: Final = 500
"""How many transactions one turn of a timer touches: they become one batch."""


@dataclass(frozen=True, slots=True)
class TransactionSettings:
    """What the coordinator reads of its broker's configuration."""

    timeout_max_ms: int = 900_000
    id_expiration_ms: int = 604_800_000
    look_for_timeouts_ms: int = 10_000
    look_for_expired_ms: int = 3_600_000


class _LastEpoch(NamedTuple):
    """The epoch that a producer had before, as long as it goes on as `now`."""

    now: ProducerId
    epoch: int


class TransactionCoordinator:
    """See the module."""

    def __init__(self, settings: Callable[[], TransactionSettings]) -> None:
        self._settings = settings
        self.transactions: dict[str, Transaction] = {}
        """By transactional id; to be read by anybody."""
        self._last_epochs: dict[str, _LastEpoch] = {}

    # --- commands -----------------------------------------------------------------------------

    def command(self, ticket: Ticket, request: Any, caller: Caller, moment: Moment) -> Decision:  # noqa: ARG002
        """What a command comes to."""
        match request:
            case Add():
                return self._add(ticket, request, moment)
            case Verify():
                return _say(ticket, self._verified(request))
            case Init():
                return self._init(ticket, request, moment)
            case End():
                return self._end(ticket, request, moment)
            case Complete():
                return self._complete(ticket, request, moment)
            case Describe():
                return _say(ticket, self.transactions.get(request.transactional_id))
            case ListAll():
                return _say(ticket, sorted(self.transactions.items()))
        raise AssertionError(f"nobody may ask for {request}")

    def _init(self, ticket: Ticket, request: Init, moment: Moment) -> Decision:
        if not 0 < request.timeout_ms <= self._settings().timeout_max_ms:
            return _say(ticket, Producer(ErrorCode.INVALID_TRANSACTION_TIMEOUT))
        name, expected = request.transactional_id, request.expected
        one = self.transactions.get(name)
        if one is None:
            if request.fresh_id is None:
                return _say(ticket, NEEDS_PRODUCER_ID)
            new = Transaction(request.fresh_id, NO_EPOCH, request.timeout_ms)
            return self._begin(ticket, request, new, ProducerId(request.fresh_id, 0), moment)
        if one.state.is_prepared:
            return _say(ticket, Producer(ErrorCode.CONCURRENT_TRANSACTIONS))
        if expected is not None and not _may_be(expected, one):
            return _say(ticket, Producer(ErrorCode.PRODUCER_FENCED))
        if one.state is State.ONGOING:
            answer = Answer(ticket, Producer(ErrorCode.CONCURRENT_TRANSACTIONS))
            return self._fence({name: one}, moment, answer)
        if one.is_exhausted and (expected is None or expected.epoch == one.epoch):
            if request.fresh_id is None:
                return _say(ticket, NEEDS_PRODUCER_ID)
            return self._begin(ticket, request, one, ProducerId(request.fresh_id, 0), moment)
        goes_on = ProducerId(one.producer_id, one.epoch + 1)
        if expected is not None and expected.epoch != one.epoch:
            if expected.epoch != self._last_epoch(name, one):
                return _say(ticket, Producer(ErrorCode.PRODUCER_FENCED))
            goes_on = ProducerId(one.producer_id, one.epoch)  # it did not hear the last answer
        return self._begin(ticket, request, one, goes_on, moment)

    def _begin(
        self, ticket: Ticket, request: Init, one: Transaction, goes_on: ProducerId, moment: Moment
    ) -> Decision:
        """Write an empty transaction, and remember what a repeat of the request would say."""
        name, before = request.transactional_id, one.epoch
        if goes_on == (one.producer_id, one.epoch):
            before = self._last_epoch(name, one)
        if request.expected is None or before == NO_EPOCH:
            self._last_epochs.pop(name, None)
        else:
            self._last_epochs[name] = _LastEpoch(goes_on, before)
        begun = one.begun(*goes_on, timeout_ms=request.timeout_ms, now_ms=moment.now_ms)
        answer = Answer(ticket, Producer(ErrorCode.NONE, *goes_on))
        return Decision((_record(name, begun, moment.image),), answers=(answer,))

    def _add(self, ticket: Ticket, request: Add, moment: Moment) -> Decision:
        one = self.transactions.get(request.transactional_id)
        code = _stranger(one, request.producer)
        if code is not ErrorCode.NONE:
            return _say(ticket, code)
        assert one is not None
        if one.state is State.ONGOING and set(request.partitions) <= set(one.partitions):
            return _say(ticket, ErrorCode.NONE)
        grown = one.with_partitions(
            request.partitions, client_version=request.client_version, now_ms=moment.now_ms
        )
        record = _record(request.transactional_id, grown, moment.image)
        return Decision((record,), answers=(Answer(ticket, ErrorCode.NONE),))

    def _verified(self, request: Verify) -> list[ErrorCode]:
        """Unlike an addition it is told first that it is fenced, whatever goes on."""
        one = self.transactions.get(request.transactional_id)
        code = _not_its_own(one, request.producer)
        if code is ErrorCode.NONE:
            code = _stranger(one, request.producer)
        if code is not ErrorCode.NONE:
            return [code] * len(request.partitions)
        assert one is not None
        taking_part = set(one.partitions)
        return [
            ErrorCode.NONE if place in taking_part else ErrorCode.TRANSACTION_ABORTABLE
            for place in request.partitions
        ]

    def _end(self, ticket: Ticket, request: End, moment: Moment) -> Decision:
        name = request.transactional_id
        one = self.transactions.get(name)
        if one is None:
            return _say(ticket, Producer(ErrorCode.INVALID_PRODUCER_ID_MAPPING))
        code = ends.judge(one, request)
        if code is not None:
            if code is ErrorCode.NONE:
                return _say(ticket, Producer(code, one.producer_id, one.epoch))
            return _say(ticket, Producer(code))
        next_id = NO_PRODUCER_ID
        if request.client_version >= EPOCH_BUMP_VERSION and one.is_exhausted:
            if request.fresh_id is None:
                return _say(ticket, NEEDS_PRODUCER_ID)
            next_id = request.fresh_id
        decided = one.ending(
            committed=request.committed,
            client_version=request.client_version,
            next_producer_id=next_id,
            now_ms=moment.now_ms,
        )
        if decided.bumps_epoch:
            self._last_epochs[name] = _LastEpoch(decided.when_complete, one.epoch)
        return Decision(
            (_record(name, decided, moment.image),),
            answers=(Answer(ticket, Producer(ErrorCode.NONE, *decided.when_complete)),),
            effects=(ending_of(name, decided, committed=request.committed),),
        )

    def _complete(self, ticket: Ticket, request: Complete, moment: Moment) -> Decision:
        """The broker says so; late words of an end that is complete already change nothing (I2)."""
        one = self.transactions.get(request.transactional_id)
        answer = Answer(ticket, None)
        if one is None or not one.state.is_prepared or request.producer != _producer_of(one):
            return Decision(answers=(answer,))
        done = one.completed(moment.now_ms)
        record = _record(request.transactional_id, done, moment.image)
        return Decision((record,), answers=(answer,))

    def _fence(self, ongoing: dict[str, Transaction], moment: Moment, *answers: Answer) -> Decision:
        """Abort these, in an epoch that nobody has."""
        version = _version_of(moment.image)
        client_version = version if version >= EPOCH_BUMP_VERSION else 0
        records, effects = [], []
        for name, one in ongoing.items():
            fenced = one.fenced(client_version=client_version, now_ms=moment.now_ms)
            self._last_epochs.pop(name, None)
            if fenced.bumps_epoch:  # to its producer this is an end like any other: it may go on
                self._last_epochs[name] = _LastEpoch(_producer_of(fenced), one.epoch)
            records.append(_record(name, fenced, moment.image))
            effects.append(ending_of(name, fenced, committed=False))
        return Decision(tuple(records), answers=answers, effects=tuple(effects))

    # --- the log ------------------------------------------------------------------------------

    def replay(self, record: KeyValue, *, offset: int, producer: BatchOwner | None) -> None:  # noqa: ARG002
        """I1."""
        name = read_key(record.key)
        if name is None:
            return
        if record.value is None:
            self.transactions.pop(name, None)
        else:
            self.transactions[name] = read_value(record.value)

    def replay_end(self, producer: BatchOwner, *, committed: bool) -> None:
        """Nobody writes to this topic within a transaction."""

    # --- time ---------------------------------------------------------------------------------

    def on_image(self, moment: Moment, deleted_topics: tuple[str, ...]) -> Decision:  # noqa: ARG002
        """Partitions of deleted topics are passed over when the markers are written."""
        return NOTHING

    def loaded(self, moment: Moment) -> Decision:  # noqa: ARG002
        """Carry out what was decided (I2), and begin to look at the clock."""
        settings = self._settings()
        endings = tuple(
            ending_of(name, one, committed=one.state is State.PREPARE_COMMIT)
            for name, one in sorted(self.transactions.items())
            if one.state.is_prepared
        )
        timers = (
            Timer(LOOK_FOR_TIMEOUTS, settings.look_for_timeouts_ms),
            Timer(LOOK_FOR_EXPIRED, settings.look_for_expired_ms),
        )
        return Decision(timers=timers, effects=endings)

    def on_timer(self, key: Hashable, moment: Moment) -> Decision:
        """Look for what is too old, or not used; soon again where there was more than one batch takes."""
        settings = self._settings()
        if key == LOOK_FOR_TIMEOUTS:
            late = {
                name: one
                for name, one in self.transactions.items()
                if one.state is State.ONGOING and one.started_ms + one.timeout_ms < moment.now_ms
            }
            now = dict(list(late.items())[:AT_ONCE_MAX])
            decision = self._fence(now, moment)
            pause_ms = settings.look_for_timeouts_ms if len(now) == len(late) else 0
        else:
            before_ms = moment.now_ms - settings.id_expiration_ms
            unused = [
                name
                for name, one in self.transactions.items()
                if one.state.may_expire and one.updated_ms <= before_ms
            ]
            for name in unused[:AT_ONCE_MAX]:
                self._last_epochs.pop(name, None)
            decision = Decision(tuple(forgotten(name) for name in unused[:AT_ONCE_MAX]))
            pause_ms = settings.look_for_expired_ms if len(unused) <= AT_ONCE_MAX else 0
        again = Timer(key, pause_ms)
        return Decision(decision.records, timers=(again,), effects=decision.effects)

    def check(self) -> None:
        """Assert the invariants."""
        for one in self.transactions.values():
            one.check()
        assert self._last_epochs.keys() <= self.transactions.keys()

    # --- inside -------------------------------------------------------------------------------

    def _last_epoch(self, name: str, one: Transaction) -> int:
        """The epoch before this one, if the producer that has this one had it too (I4)."""
        last = self._last_epochs.get(name)
        return last.epoch if last is not None and last.now == _producer_of(one) else NO_EPOCH


def _may_be(expected: ProducerId, one: Transaction) -> bool:
    """Whether a producer that says it is `expected` can be the one of this transaction, or have been."""
    return expected.producer_id == one.producer_id or (
        expected.producer_id == one.previous_producer_id and expected.epoch >= LAST_EPOCH
    )


def _stranger(one: Transaction | None, producer: ProducerId) -> ErrorCode:
    """Why this producer may not add to the transaction now (I3); before an end is complete it may be anybody."""
    if one is None:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if one.state.is_prepared:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    return _not_its_own(one, producer)


def _not_its_own(one: Transaction | None, producer: ProducerId) -> ErrorCode:
    """Why a transaction is not this producer's."""
    if one is None or one.producer_id != producer.producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if one.epoch != producer.epoch:
        return ErrorCode.PRODUCER_FENCED
    return ErrorCode.NONE


def _producer_of(one: Transaction) -> ProducerId:
    return ProducerId(one.producer_id, one.epoch)


def _record(name: str, one: Transaction, image: Image) -> KeyValue:
    return written(name, one, transaction_version=_version_of(image))


def _version_of(image: Image) -> int:
    return image.features.get(TRANSACTION_VERSION, 0)


def _say(
    ticket: Ticket,
    response: Producer | Need | ErrorCode | list[ErrorCode] | Transaction | Any,
) -> Decision:
    return Decision(answers=(Answer(ticket, response),))
