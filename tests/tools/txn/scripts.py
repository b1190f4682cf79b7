"""What a scripted broker says of transactions: coordinators' entries, and producers of one partition, orders-0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.clients.peer import Script
from tests.tools.config.test_describe import configs, entry
from tests.tools.group.scripts import coordinator

from quire.config.describe import Source
from quire.protocol.apis import ApiKey
from quire.protocol.messages import describe_producers as producing
from quire.protocol.messages import describe_transactions as describing
from quire.protocol.messages import list_transactions as listing
from quire.protocol.messages import write_txn_markers as marking

TOPICS = {"orders": {0: 1}}
NOW = 10_000_000


def listed(*found: tuple[str, int, str]) -> Script:
    """Transactional id, producer id, state; the producer filter counts."""

    def answer(request: Any, _version: int) -> Any:
        states = [
            listing.TransactionState(
                transactional_id=name, producer_id=pid, transaction_state=state
            )
            for name, pid, state in found
            if not request.producer_id_filters or pid in request.producer_id_filters
        ]
        return listing.ListTransactionsResponse(
            throttle_time_ms=0, error_code=0, unknown_state_filters=[], transaction_states=states
        )

    return answer


def transaction(
    state: str = "Ongoing", *, partitions: Sequence[int] = (0,), error: int = 0
) -> Script:
    def answer(request: Any, _version: int) -> Any:
        found = describing.TransactionState(
            error_code=error, transactional_id=request.transactional_ids[0],
            transaction_state=state, transaction_timeout_ms=60_000,
            transaction_start_time_ms=NOW - 5_000, producer_id=7, producer_epoch=2,
            topics=[describing.TopicData(topic="orders", partitions=list(partitions))]
            if partitions else [],
        )  # fmt: skip
        return describing.DescribeTransactionsResponse(
            throttle_time_ms=0, transaction_states=[found]
        )

    return answer


def producer(
    pid: int = 7, *, begins: int = 16, age_ms: int = 5_000, coordinator_epoch: int = 3
) -> producing.ProducerState:
    return producing.ProducerState(
        producer_id=pid, producer_epoch=2, last_sequence=4, last_timestamp=NOW - age_ms,
        coordinator_epoch=coordinator_epoch, current_txn_start_offset=begins,
    )  # fmt: skip


def producers(*looks: Sequence[producing.ProducerState]) -> Script:
    """What each look gives; the last one stays."""
    left = list(looks)

    def answer(_request: Any, _version: int) -> Any:
        found = left.pop(0) if len(left) > 1 else left[0]
        one = producing.PartitionResponse(
            partition_index=0, error_code=0, active_producers=list(found)
        )
        topic = producing.TopicResponse(name="orders", partitions=[one])
        return producing.DescribeProducersResponse(throttle_time_ms=0, topics=[topic])

    return answer


def marked(error: int = 0) -> Script:
    def answer(request: Any, _version: int) -> Any:
        result = marking.WritableTxnMarkerResult(
            producer_id=request.markers[0].producer_id,
            topics=[
                marking.WritableTxnMarkerTopicResult(
                    name="orders",
                    partitions=[
                        marking.WritableTxnMarkerPartitionResult(
                            partition_index=0, error_code=error
                        )
                    ],
                )
            ],
        )
        return marking.WriteTxnMarkersResponse(markers=[result])

    return answer


def transactions(**changed: Script) -> dict[int, Script]:
    """Producer 7 has transaction `t` open in orders-0 since offset 16, for five seconds."""
    scripts = {
        "FIND_COORDINATOR": coordinator(),
        "LIST_TRANSACTIONS": listed(("t", 7, "Ongoing")),
        "DESCRIBE_TRANSACTIONS": transaction(),
        "DESCRIBE_PRODUCERS": producers([producer(), producer(8, begins=-1)]),
        "DESCRIBE_CONFIGS": configs([entry("transaction.max.timeout.ms", "60000", Source.DEFAULT)]),
        "WRITE_TXN_MARKERS": marked(),
        **changed,
    }
    return {ApiKey[name]: script for name, script in scripts.items()}
