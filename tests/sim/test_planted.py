"""Every planted bug is caught by its workload within its seeds, by the law that is to catch it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sim.planted import MISSED, PLANTED, Planted

from quire.sim.run import BrokenRunError, run_seed

TABLE = (Path(__file__).parents[2] / "docs" / "simulation.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("bug", PLANTED, ids=lambda one: one.name.replace(" ", "_"))
def test_a_planted_bug_is_caught(bug: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    bug.plant(monkeypatch)
    told = []
    for seed in range(bug.first, bug.first + bug.seeds):
        try:
            run_seed(seed, bug.workload)
        except BrokenRunError as broken:
            told.append(str(broken).splitlines()[0])
            break
    assert told, f"not caught in {bug.seeds} seeds"
    assert bug.law in told[0]


def test_the_document_tells_of_every_planted_bug_and_of_those_that_are_not_caught() -> None:
    assert [one.name for one in (*PLANTED, *MISSED) if f"| {one.name} |" not in TABLE] == []
    assert len(PLANTED) >= 10
