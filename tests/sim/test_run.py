"""Whole runs: the seed decides everything, and a node that breaks its word is found out."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from quire.sim.disk import SimFile
from quire.sim.laws import BrokenLawError
from quire.sim.run import WORKLOADS, BrokenRunError, run_seed
from quire.sim.workloads.groups import GroupsWorkload


@pytest.mark.parametrize("workload", WORKLOADS)
def test_two_runs_of_a_seed_are_the_same_and_two_seeds_are_not(workload: str) -> None:
    first = run_seed(11, workload)
    assert run_seed(11, workload) == first
    assert run_seed(12, workload).digest != first.digest


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_order_of_hashes_makes_no_difference(workload: str) -> None:
    digests = set()
    program = f"from quire.sim.run import run_seed; print(run_seed(5, {workload!r}).digest)"
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        digests.add(done.stdout)
    assert len(digests) == 1


def test_a_run_strikes_the_node_and_has_records_to_judge() -> None:
    outcomes = [run_seed(seed) for seed in range(20, 23)]
    assert sum(one.deaths for one in outcomes) > 10
    assert sum(one.power_losses for one in outcomes) > 2
    assert all(one.acknowledged > 50 for one in outcomes)
    assert all(sum(one.faults.values()) > 0 for one in outcomes)


def test_a_disk_that_says_it_has_flushed_and_has_not_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flush = SimFile.flush

    def lie(self: SimFile) -> None:
        if "/topic-" not in self.path or not self.path.endswith(".log"):
            flush(self)

    monkeypatch.setattr(SimFile, "flush", lie)
    broken = []
    for seed in range(8):
        try:
            run_seed(seed)
        except BrokenRunError as found:
            broken.append(found)
            break
    assert broken
    text = str(broken[0])
    assert text.startswith("seed ")
    assert "run it again: make sim SEED=" in text
    assert len(text.splitlines()) > 20, "what happened last is told with it"


def test_a_broken_law_is_told_with_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(_workload: object) -> None:
        raise BrokenLawError("L1 something was lost")

    monkeypatch.setattr(GroupsWorkload, "judge", judge)
    with pytest.raises(BrokenRunError, match="seed 3 of groups: BrokenLawError: L1 something"):
        run_seed(3, "groups")
