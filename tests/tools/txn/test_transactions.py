from __future__ import annotations

import pytest
from tests.tools.scene import asked
from tests.tools.txn.scripts import NOW, listed, transaction, transactions

from quire.clients.errors import AnswerError
from quire.errors import ErrorCode
from quire.tools.txn.transactions import Listed, find_transaction, list_transactions
from quire.types import TopicPartition


def test_transactions_are_listed_by_name_and_the_filters_are_the_brokers() -> None:
    scripts = transactions(LIST_TRANSACTIONS=listed(("b", 2, "Ongoing"), ("a", 1, "Empty")))
    found, (request,) = asked(
        lambda cluster: list_transactions(
            cluster, states=("Empty", "Ongoing"), longer_than_ms=5, pattern="[ab]"
        ),
        scripts,
    )
    assert found == [Listed("a", 1, 1, "Empty"), Listed("b", 1, 2, "Ongoing")]
    assert request.state_filters == ["Empty", "Ongoing"]
    assert (request.duration_filter, request.transactional_id_pattern) == (5, "[ab]")


def test_one_is_asked_of_its_coordinator() -> None:
    found, _ = asked(lambda cluster: find_transaction(cluster, "t"), transactions())
    assert found.is_open
    assert (found.producer_id, found.producer_epoch, found.timeout_ms) == (7, 2, 60_000)
    assert (found.since_ms, found.partitions) == (NOW - 5_000, (TopicPartition("orders", 0),))


def test_one_that_has_ended_is_not_open() -> None:
    ended = transactions(DESCRIBE_TRANSACTIONS=transaction("CompleteCommit", partitions=()))
    found, _ = asked(lambda cluster: find_transaction(cluster, "t"), ended)
    assert not found.is_open
    assert found.partitions == ()


def test_one_that_nobody_knows_is_told_so() -> None:
    unknown = transaction(error=ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
    with pytest.raises(AnswerError, match=r"transaction t: .* no such transactional id"):
        asked(
            lambda cluster: find_transaction(cluster, "t"),
            transactions(DESCRIBE_TRANSACTIONS=unknown),
        )
