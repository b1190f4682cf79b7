from __future__ import annotations

import pytest
from tests.tools.scene import asked
from tests.tools.txn.scripts import (
    NOW,
    TOPICS,
    listed,
    producer,
    producers,
    transaction,
    transactions,
)

from quire.clients.errors import AnswerError
from quire.errors import ErrorCode
from quire.tools.asking import SettingError
from quire.tools.places import Place
from quire.tools.txn.hanging import GRACE_MS, Hanging, longest_allowed_ms, row, search


def found(*places: Place, broker: int | None = None, older: int | None = None, **changed):
    return asked(
        lambda cluster: search(cluster, places, broker, older, NOW),
        transactions(**changed),
        TOPICS,
    )[0]


def why(hanging: list[Hanging]) -> list[tuple[str | None, str]]:
    return [(one.transactional_id, one.why) for one in hanging]


def test_a_transaction_that_its_coordinator_has_in_hand_does_not_hang() -> None:
    assert found() == []


@pytest.mark.parametrize(
    "changed",
    [
        {"LIST_TRANSACTIONS": listed()},
        {"DESCRIBE_TRANSACTIONS": transaction(error=ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)},
    ],
)
def test_one_whose_producer_nobody_knows_hangs(changed) -> None:
    assert why(found(**changed)) == [(None, "no coordinator knows its producer")]


def test_one_that_its_coordinator_does_not_count_the_partition_in_hangs() -> None:
    (one,) = found(DESCRIBE_TRANSACTIONS=transaction("Empty", partitions=()))
    assert why([one]) == [("t", "its coordinator does not count this partition in")]
    assert (row(one)["producer_id"], row(one)["start_offset"]) == (7, 16)


def test_one_that_is_open_longer_than_any_may_be_hangs() -> None:
    assert asked(longest_allowed_ms, transactions())[0] == 60_000 + GRACE_MS
    late = producers([producer(age_ms=60_000 + GRACE_MS + 1)])
    assert why(found(DESCRIBE_PRODUCERS=late)) == [("t", "open longer than it may be")]
    assert why(found(older=4_000)) == [("t", "open longer than it may be")]
    assert found(older=6_000) == []


def test_one_that_ended_while_coordinators_were_asked_does_not_hang() -> None:
    ended = producers([producer()], [producer(begins=-1)])
    another = producers([producer()], [producer(begins=30)])
    for looks in (ended, another):
        assert found(LIST_TRANSACTIONS=listed(), DESCRIBE_PRODUCERS=looks) == []


def test_the_search_can_be_narrowed() -> None:
    unknown = {"LIST_TRANSACTIONS": listed()}
    assert len(found(Place("orders"), broker=1, **unknown)) == 1
    assert found(Place("orders", (5,)), **unknown) == []
    with pytest.raises(SettingError, match="--broker 4: there are"):
        found(broker=4)
    with pytest.raises(AnswerError, match="topic nope"):
        found(Place("nope"))
