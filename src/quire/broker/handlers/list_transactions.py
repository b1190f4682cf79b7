"""ListTransactions: every transactional id that this broker coordinates, as far as the filters show it.

Versions   1 by age · 2 by pattern
Not here   the filters (transactions.listing).
See        KIP-664, KIP-994, KIP-1152
"""

from __future__ import annotations

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.coordinators import CoordinatorError
from quire.broker.internal_topics import TRANSACTIONS
from quire.broker.transactions import NOBODY, told
from quire.errors import ErrorCode
from quire.protocol.messages import list_transactions as wire
from quire.transactions.commands import ListAll
from quire.transactions.listing import Filter, pattern_of, states_named
from quire.transactions.states import NAMES


async def handle(broker: Broker, call: Call) -> wire.ListTransactionsResponse:
    """Answer; see the module."""
    request: wire.ListTransactionsRequest = call.request
    states, unknown = states_named(request.state_filters)
    pattern = None
    if request.transactional_id_pattern:
        pattern = pattern_of(request.transactional_id_pattern)
        if pattern is None:
            return _answer(ErrorCode.INVALID_REGULAR_EXPRESSION, [])
    chosen = Filter(
        states, frozenset(request.producer_id_filters), request.duration_filter, pattern
    )
    return await _list(broker, chosen, unknown)


async def _list(
    broker: Broker, chosen: Filter, unknown: list[str]
) -> wire.ListTransactionsResponse:
    host = broker.hosts.get(TRANSACTIONS)
    if host is None:
        return _answer(ErrorCode.COORDINATOR_NOT_AVAILABLE, [])
    if host.is_loading:
        return _answer(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, [])
    shown = []
    now_ms = broker.clock.wall_ms()
    for partition, _ in host.machines():
        try:
            found = await host.ask_partition(partition, ListAll(), NOBODY, writes=False)
        except CoordinatorError as refusal:
            return _answer(told(refusal.code), [])
        shown += [
            wire.TransactionState(
                transactional_id=name,
                producer_id=one.producer_id,
                transaction_state=NAMES[one.state],
            )
            for name, one in found
            if chosen.shows(name, one, now_ms)
        ]
    return _answer(ErrorCode.NONE, shown, unknown)


def _answer(
    code: ErrorCode, shown: list[wire.TransactionState], unknown: list[str] | None = None
) -> wire.ListTransactionsResponse:
    return wire.ListTransactionsResponse(
        throttle_time_ms=0,
        error_code=code,
        unknown_state_filters=unknown or [],
        transaction_states=shown,
    )
