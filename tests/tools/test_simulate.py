"""`make sim`: seeds in processes, each tenth one twice, and the first broken one ends everything."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from quire.sim.run import BrokenRunError, Outcome
from quire.tools import simulate

LINE = r"seed {seed} [0-9a-f]{{64}} deaths=\d+ power_losses=\d+ acknowledged=\d+\n"


def test_one_seed_is_run_alone_and_told_in_a_line() -> None:
    done = CliRunner().invoke(simulate.main, ["--seed", "3", "--workload", "groups"])
    assert done.exit_code == 0
    assert re.fullmatch(LINE.format(seed=3), done.stdout)


def test_without_a_workload_a_seed_is_run_under_each(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, str]] = []

    def run_seed(seed: int, workload: str) -> Outcome:
        asked.append((seed, workload))
        return Outcome(seed, "d", 1, 2, 3, {})

    monkeypatch.setattr(simulate, "run_seed", run_seed)
    assert CliRunner().invoke(simulate.main, ["--seed", "3"]).exit_code == 0
    assert asked == [(3, "produce_consume"), (3, "groups"), (3, "transactions")]


def test_several_seeds_run_in_processes_and_some_of_them_twice() -> None:
    done = CliRunner().invoke(simulate.main, ["--first", "9", "--seeds", "2", "--jobs", "2"])
    assert done.exit_code == 0, done.output
    for workload in ("produce_consume", "groups", "transactions"):
        assert f"{workload}: 2 seeds, 1 of them twice with equal traces" in done.stdout
    assert "all laws held" in done.stdout


def test_a_broken_seed_ends_its_portion_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_seed(seed: int, _workload: str) -> Outcome:
        if seed == 2:
            raise BrokenRunError("seed 2: L1\nrun it again: make sim SEED=2")
        return Outcome(seed, "d", 1, 2, 3, {})

    monkeypatch.setattr(simulate, "run_seed", run_seed)
    done = CliRunner().invoke(simulate.main, ["--portion", "1,2,3"])
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        "seed 1 d deaths=1 power_losses=2 acknowledged=3",
        "BROKEN seed 2: L1",
        "run it again: make sim SEED=2",
    ]


def printed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """The processes print these lines."""

    def found(_portions: object, _jobs: int) -> Iterator[str]:
        yield from lines

    monkeypatch.setattr(simulate, "_lines", found)


def test_two_runs_that_differ_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    printed(monkeypatch, "seed 0 aa deaths=1", "seed 1 cc deaths=1", "seed 0 bb deaths=1")
    done = CliRunner().invoke(simulate.main, ["--seeds", "2"])
    assert done.exit_code == 1
    assert "BROKEN seed 0: two runs of it differ" in done.stderr
    assert "all laws held" not in done.stdout


def test_what_a_broken_process_said_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    printed(monkeypatch, "seed 0 aa deaths=1", "BROKEN seed 1: L3\nthe last lines")
    done = CliRunner().invoke(simulate.main, ["--seeds", "2"])
    assert done.exit_code == 1
    assert done.stderr == "BROKEN seed 1: L3\nthe last lines\n"


def test_from_the_output_of_a_process_the_broken_part_is_taken() -> None:
    assert simulate._broken(["seed 1 aa", "BROKEN seed 2", "line"]) == ["BROKEN seed 2", "line"]
    assert simulate._broken(["seed 1 aa"])[-1] == "a process of the simulator ended early"
