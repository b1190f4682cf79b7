from __future__ import annotations

from quire.assignors.subscriptions import Subscriber
from quire.assignors.table import ASSIGNORS

TOPIC = bytes(16)


def test_each_name_means_an_assignor_that_gives_everything_away() -> None:
    assert list(ASSIGNORS) == ["uniform", "range"]
    for assign in ASSIGNORS.values():
        assert assign({"a": Subscriber(frozenset({TOPIC}))}, {TOPIC: 2}) == {"a": {TOPIC: (0, 1)}}
