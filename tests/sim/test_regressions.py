"""Every seed that once broke a law is run again, with the sentence that explains it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from quire.sim.run import run_seed

SEEDS = tomllib.loads((Path(__file__).parent / "regressions.toml").read_text())["seed"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS, ids=lambda one: f"{one['workload']}-{one['number']}")
def test_a_seed_that_was_broken_holds_all_laws(seed: dict[str, object]) -> None:
    assert len(str(seed["why"])) > 20
    outcome = run_seed(int(str(seed["number"])), str(seed["workload"]))
    assert outcome.acknowledged > 0
