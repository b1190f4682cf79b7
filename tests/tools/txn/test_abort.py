from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner
from tests.tools.scene import asked
from tests.tools.txn.scripts import TOPICS, listed, marked, producer, producers, transactions

from quire.clients.errors import AnswerError
from quire.errors import ErrorCode
from quire.protocol.messages.write_txn_markers import WriteTxnMarkersRequest
from quire.tools.asking import SettingError
from quire.tools.main import quire
from quire.tools.places import Place
from quire.tools.txn import abort as command
from quire.tools.txn.abort import InHandError, abort, find_open, in_hand

PLACE = Place("orders", (0,))


def ended(start_offset: int | None = None, producer_id: int | None = 7, **changed):
    async def question(cluster):
        await abort(cluster, await find_open(cluster, PLACE, start_offset, producer_id))

    _, requests = asked(question, transactions(**changed), TOPICS)
    (request,) = [one for one in requests if isinstance(one, WriteTxnMarkersRequest)]
    return request.markers[0]


def test_the_marker_is_the_producers_own_with_the_epochs_that_the_partition_knows() -> None:
    marker = ended()
    assert (marker.producer_id, marker.producer_epoch, marker.coordinator_epoch) == (7, 2, 3)
    assert not marker.transaction_result
    assert [(one.name, one.partition_indexes) for one in marker.topics] == [("orders", [0])]
    assert ended(start_offset=16, producer_id=None) == marker


def test_a_partition_that_has_seen_no_marker_yet_begins_with_epoch_0() -> None:
    fresh = producers([producer(coordinator_epoch=-1)])
    assert ended(DESCRIBE_PRODUCERS=fresh).coordinator_epoch == 0


@pytest.mark.parametrize(("start_offset", "producer_id"), [(15, None), (None, 8), (16, 8)])
def test_what_is_not_open_is_not_ended_and_what_is_open_is_named(
    start_offset: int | None, producer_id: int | None
) -> None:
    with pytest.raises(SettingError, match="open there: producer 7 from offset 16"):
        ended(start_offset, producer_id)


def test_a_refused_marker_is_told() -> None:
    with pytest.raises(AnswerError, match="producer 7 in orders-0: INVALID_PRODUCER_EPOCH"):
        ended(WRITE_TXN_MARKERS=marked(ErrorCode.INVALID_PRODUCER_EPOCH))


def owner(**changed) -> str | None:
    async def question(cluster):
        return await in_hand(cluster, await find_open(cluster, PLACE, None, 7))

    found, _ = asked(question, transactions(**changed), TOPICS)
    assert found is None or isinstance(found, str)
    return found


def test_who_has_it_in_hand_is_known() -> None:
    assert owner() == "t"
    assert owner(LIST_TRANSACTIONS=listed()) is None


def run(monkeypatch: pytest.MonkeyPatch, *options: str, **changed: Any) -> tuple[str, list[Any]]:
    markers: list[Any] = []

    def asked_of(_bootstrap: object, question: Callable[[Any], Any]) -> Any:
        found, requests = asked(question, transactions(**changed), TOPICS)
        markers.extend(one for one in requests if isinstance(one, WriteTxnMarkersRequest))
        return found

    monkeypatch.setattr(command, "asked", asked_of)
    arguments = ["txn", "abort", "orders:0", *options]
    done = CliRunner().invoke(quire, arguments, catch_exceptions=True)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output, markers


def test_one_that_somebody_will_end_is_left_to_them_unless_forced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(InHandError, match="the coordinator of t has this transaction in hand"):
        run(monkeypatch, "--producer-id", "7", "-y")
    output, markers = run(monkeypatch, "--producer-id", "7", "-y", "--force")
    assert output.endswith("aborted\n")
    assert len(markers) == 1


def test_it_is_asked_first_and_programs_are_given_json(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = {"LIST_TRANSACTIONS": listed()}
    _, markers = run(monkeypatch, "--start-offset", "16", **alone)
    assert markers == [], "nobody said yes"
    output, _ = run(monkeypatch, "--start-offset", "16", "-y", "--format", "json", **alone)
    assert json.loads(output)["aborted"] is True
    with pytest.raises(SettingError, match="one of --start-offset and --producer-id"):
        run(monkeypatch)
