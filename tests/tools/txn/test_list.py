from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner
from tests.tools.scene import asked
from tests.tools.txn.scripts import transactions

from quire.tools.main import quire
from quire.tools.txn import list as command


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The requests that the scripted broker saw."""
    requests: list[Any] = []

    def asked_of(_bootstrap: object, question: Callable[[Any], Any]) -> Any:
        found, asked_for = asked(question, transactions())
        requests.extend(asked_for)
        return found

    monkeypatch.setattr(command, "asked", asked_of)
    return requests


def test_options_become_filters(cluster: list[Any]) -> None:
    told = CliRunner().invoke(
        quire,
        ["txn", "list", "--state", "ongoing", "--running-longer-than", "1m30s", "--producer-id",
         "7", "--format", "json"],
    )  # fmt: skip
    assert json.loads(told.output) == [
        {"transactional_id": "t", "coordinator": 1, "producer_id": 7, "state": "Ongoing"}
    ]
    assert cluster[0].state_filters == ["Ongoing"]
    assert (cluster[0].duration_filter, cluster[0].producer_id_filters) == (90_000, [7])


@pytest.mark.usefixtures("cluster")
def test_none_are_said_in_words_and_a_wrong_state_is_the_users_error() -> None:
    told = CliRunner().invoke(quire, ["txn", "list", "--producer-id", "9"])
    assert told.output == "no such transactions\n"
    assert CliRunner().invoke(quire, ["txn", "list", "--state", "foo"]).exit_code == 2
