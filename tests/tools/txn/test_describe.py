from __future__ import annotations

from quire.tools.txn.describe import facts
from quire.tools.txn.transactions import Transaction
from quire.types import TopicPartition

OPEN = Transaction(
    "t", 1, 7, 2, "Ongoing", 60_000, 1_600_000_000_000, (TopicPartition("orders", 0),)
)


def test_an_open_transaction_is_told_with_its_age() -> None:
    found = facts(OPEN, 1_600_000_005_000)
    assert (found["since"], found["seconds"]) == ("2020-09-13T12:26:40.000Z", 5.0)
    assert found["partitions"] == ["orders-0"]


def test_one_that_has_ended_has_no_age() -> None:
    assert facts(OPEN._replace(state="CompleteAbort"), 1_600_000_005_000)["seconds"] is None
    assert facts(OPEN._replace(since_ms=-1), 0)["since"] is None
