"""DescribeTransactions: what their coordinator knows of these transactional ids.

See        KIP-664
"""

from __future__ import annotations

from itertools import groupby

from quire.broker.broker import Broker
from quire.broker.call import Call
from quire.broker.transactions import ask
from quire.errors import ErrorCode
from quire.protocol.messages import describe_transactions as wire
from quire.transactions.commands import Describe
from quire.transactions.states import NAMES
from quire.transactions.transaction import Transaction


async def handle(broker: Broker, call: Call) -> wire.DescribeTransactionsResponse:
    """Answer; see the module."""
    request: wire.DescribeTransactionsRequest = call.request
    return wire.DescribeTransactionsResponse(
        throttle_time_ms=0,
        transaction_states=[
            _shown(name, await ask(broker, name, Describe(name), writes=False))
            for name in dict.fromkeys(request.transactional_ids)
        ],
    )


def _shown(name: str, found: Transaction | ErrorCode | None) -> wire.TransactionState:
    if not isinstance(found, Transaction):
        code = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND if found is None else found
        return wire.TransactionState(
            error_code=code,
            transactional_id=name,
            transaction_state="",
            transaction_timeout_ms=0,
            transaction_start_time_ms=0,
            producer_id=0,
            producer_epoch=0,
            topics=[],
        )
    return wire.TransactionState(
        error_code=ErrorCode.NONE,
        transactional_id=name,
        transaction_state=NAMES[found.state],
        transaction_timeout_ms=found.timeout_ms,
        transaction_start_time_ms=found.started_ms,
        producer_id=found.producer_id,
        producer_epoch=found.epoch,
        topics=[
            wire.TopicData(topic=topic, partitions=[one.partition for one in group])
            for topic, group in groupby(found.partitions, key=lambda one: one.topic)
        ],
    )
