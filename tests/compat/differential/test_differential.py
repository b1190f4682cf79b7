"""Quire and Apache Kafka 4.3 are asked the same; their answers are the same, but for the list in `listed`.

A difference that is not in the list fails. So does one in the list that does not occur any more, and an API or a
version that both serve and nobody asks for.
"""

from __future__ import annotations

import pytest
from tests.compat.differential.case import Case
from tests.compat.differential.comparison import Comparison
from tests.compat.differential.corpus import PARTS, Part
from tests.compat.differential.listed import LISTED

from quire.broker.dispatch import BROKER_TABLE, CONTROLLER_TABLE
from quire.protocol.apis import APIS
from quire.protocol.schema import declaration_of

pytestmark = pytest.mark.compat


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_answers_are_the_same(comparison: Comparison, part: Part) -> None:
    differing = [
        one
        for one in comparison.found
        if one.question.startswith(f"{part.name} | ")
        and not any(listed.covers(one) for listed in LISTED)
    ]
    assert not differing, "\n".join(map(str, differing[:50]))


@pytest.mark.parametrize("listed", LISTED, ids=lambda listed: listed.question)
def test_a_listed_difference_still_occurs(comparison: Comparison, listed: object) -> None:
    assert any(listed.covers(one) for one in comparison.found)  # type: ignore[attr-defined]


def test_every_version_of_every_api_that_is_served_is_asked() -> None:
    asked: dict[bool, set[tuple[int, int]]] = {False: set(), True: set()}
    for part in PARTS:
        for question in part.questions:
            if isinstance(question, Case):
                for version, request in question.questions():
                    key = declaration_of(type(request)).key
                    assert key is not None
                    asked[part.by_controller].add((key, version))
    for table, by_controller in ((BROKER_TABLE, False), (CONTROLLER_TABLE, True)):
        served = {
            (int(key), version)
            for key in table
            if key not in LEFT_TO_THEIR_OWN
            for version in range(APIS[key].lowest, APIS[key].highest_stable + 1)
        }
        absent = sorted(served - UNKNOWN_TO_CLIENTS - asked[by_controller])
        assert absent == []


UNKNOWN_TO_CLIENTS = {(0, version) for version in range(3)}
"""Versions that are only claimed."""
LEFT_TO_THEIR_OWN: frozenset[int] = frozenset(
    {24, 25, 26, 27, 28, 65, 66, *range(76, 80), *range(83, 93)}
)
"""APIs of transactions, of shares and of streams: compared where they are tested, or not served."""
