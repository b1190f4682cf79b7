"""The coordinators of transactions as the handlers and leaders of this broker see them.

    make_host   the host for the topic of transactions
    ask         a command, to the coordinator of its id if that is here
    decide      likewise, with a producer id drawn when the coordinator says that it needs one

Invariants
  I1  Whoever is not answered by a coordinator is told a code that makes clients look for it again, or wait.
Not here   what is decided (transactions), markers (markers), other brokers' coordinators (verification).
See        KIP-98
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from quire.broker.broker import Broker
from quire.broker.controller_link import ControllerUnavailableError
from quire.broker.coordinators import CoordinatorError, Coordinators, Kind
from quire.broker.internal_topics import TRANSACTIONS
from quire.config.broker import BrokerSettings
from quire.coordination import Caller
from quire.errors import ErrorCode
from quire.transactions.commands import NEEDS_PRODUCER_ID, End, Init, Producer

if TYPE_CHECKING:
    from quire.transactions.machine import TransactionCoordinator, TransactionSettings

BASE_SEQUENCE: Final = -1
"""What the batches of this topic carry in Apache Kafka."""
NOBODY: Final = Caller(version=0)
FENCED_NAMES: Final[Mapping[str, int]] = {
    "InitProducerId": 4,
    "AddPartitionsToTxn": 2,
    "AddOffsetsToTxn": 2,
    "EndTxn": 2,
}
"""From which version on a request's client knows PRODUCER_FENCED; older ones are told INVALID_PRODUCER_EPOCH."""


def make_host(broker: Broker, on_effect: Callable[[int, Any], None]) -> Coordinators:
    """Coordinators of transactions, for the partitions that this broker leads."""

    def make(_partition: int) -> TransactionCoordinator:
        from quire.transactions.machine import TransactionCoordinator  # noqa: PLC0415 -- a start needs none

        return TransactionCoordinator(lambda: settings_of(broker.layers.settings))

    return Coordinators(
        Kind(TRANSACTIONS, make, BASE_SEQUENCE, on_effect),
        replicas=broker.replicas,
        waiting=broker.waiting,
        clock=broker.clock,
        journal=broker.journal,
    )


def settings_of(settings: BrokerSettings) -> TransactionSettings:
    """What the coordinators read of the broker's configuration."""
    from quire.transactions.machine import TransactionSettings  # noqa: PLC0415 -- as above

    return TransactionSettings(
        timeout_max_ms=settings.transaction_max_timeout_ms,
        id_expiration_ms=settings.transactional_id_expiration_ms,
        look_for_timeouts_ms=settings.transaction_abort_timed_out_transaction_cleanup_interval_ms,
        look_for_expired_ms=settings.transaction_remove_expired_transaction_cleanup_interval_ms,
    )


async def ask(broker: Broker, name: str, command: Any, *, writes: bool = True) -> Any:
    """The coordinator's answer, or an ErrorCode when there is none (I1)."""
    host = broker.hosts.get(TRANSACTIONS)
    if host is None:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    try:
        return await host.ask(name, command, NOBODY, writes=writes)
    except CoordinatorError as refusal:
        return told(refusal.code)


async def decide(broker: Broker, command: Init | End) -> Producer:
    """As whom the producer goes on, or why not."""
    while True:
        answer = await ask(broker, command.transactional_id, command)
        if isinstance(answer, ErrorCode):
            return Producer(answer)
        if answer is not NEEDS_PRODUCER_ID:
            assert isinstance(answer, Producer)
            return answer
        try:
            command = command._replace(fresh_id=await broker.producer_ids.next())
        except ControllerUnavailableError:
            return Producer(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def told(code: ErrorCode) -> ErrorCode:
    """I1."""
    return ErrorCode.COORDINATOR_NOT_AVAILABLE if code is ErrorCode.REQUEST_TIMED_OUT else code


def as_known(code: ErrorCode, api: str, version: int) -> ErrorCode:
    """The code in words that a client of this version knows."""
    if code is ErrorCode.PRODUCER_FENCED and version < FENCED_NAMES[api]:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code
