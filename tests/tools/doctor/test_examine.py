from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from quire.tools.doctor import examine
from quire.tools.doctor.findings import Finding, fine, warning, wrong
from quire.tools.local import make_or_find
from quire.tools.main import quire
from quire.tools.places import Place

ALL = [fine("a", "is well"), warning("b", "is odd", "Look."), wrong("c", "is broken", "Mend it.")]


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(quire, ["doctor", *arguments])
    return done.exit_code, done.output


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    found = list(ALL)

    async def examined(*_: object) -> list[Finding]:
        return found

    monkeypatch.setattr(examine, "examine_cluster", examined)
    return found


@pytest.mark.usefixtures("cluster")
def test_what_is_wrong_makes_the_exit_code_and_says_its_remedy() -> None:
    code, output = run()
    assert code == 1
    assert "fine     a: is well\n" in output
    assert "wrong    c: is broken\n         Mend it.\n" in output


def test_warnings_leave_the_exit_code_alone_and_quiet_leaves_out_what_is_fine(
    cluster: list[Finding],
) -> None:
    cluster.pop()
    code, output = run("--quiet")
    assert code == 0
    assert "is well" not in output
    assert "is odd" in output


@pytest.mark.usefixtures("cluster")
def test_programs_are_given_json() -> None:
    _, output = run("--format", "json")
    told = json.loads(output)
    assert [one["level"] for one in told] == ["fine", "warning", "wrong"]
    assert told[2]["remedy"] == "Mend it."


def test_a_cluster_of_this_machine_that_does_not_run_is_told_so(tmp_path: Path) -> None:
    place = str(tmp_path / "c")
    make_or_find(place, host="127.0.0.1", port=None, settings={})
    code, output = run("--dir", place)
    assert code == 1
    assert "node 1: does not run: it was stopped" in output


def test_a_group_is_examined_where_and_as_long_as_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []

    async def examined(
        _network: object, _bootstrap: object, *what: object, pause_seconds: float
    ) -> list[Finding]:
        calls.append((*what, pause_seconds))
        return list(ALL)

    monkeypatch.setattr(examine, "examine_group", examined)
    code, output = run("--group", "g", "--topic", "orders:1", "--seconds", "2")
    assert (code, calls) == (1, [("g", (Place("orders", (1,)),), 2.0)])
    assert "wrong    c: is broken" in output
