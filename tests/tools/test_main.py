from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from quire.errors import StorageError
from quire.tools import main as command
from quire.tools.main import NOUNS, VERBS, Verb, quire


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "quire", *arguments], capture_output=True, text=True, check=False
    )


def rows() -> list[tuple[list[str], Verb]]:
    found: list[tuple[list[str], Verb]] = []
    for name, row in VERBS.items():
        if isinstance(row, Verb):
            found.append(([name], row))
        else:
            found += [([name, verb], inner) for verb, inner in row.items()]
    return found


@pytest.mark.parametrize(
    ("path", "verb"), rows(), ids=lambda value: "-".join(value) if isinstance(value, list) else ""
)
def test_every_row_of_the_table_is_a_command_that_says_the_same_of_itself(
    path: list[str], verb: Verb
) -> None:
    result = CliRunner().invoke(quire, [*path, "--help"])
    assert result.exit_code == 0, result.output
    assert verb.summary in result.output


def test_help_lists_every_noun_without_loading_any_verb() -> None:
    program = (
        "import sys; from quire.tools.main import quire; quire(['--help'], standalone_mode=False); "
    )
    program += (
        "print([m for m in sys.modules if m.startswith(('quire.storage', 'quire.tools.log'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert all(noun in done.stdout for noun in NOUNS)
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_unknown_command_is_the_users_error() -> None:
    done = run("frobnicate")
    assert done.returncode == 2
    assert "frobnicate" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_known_error_is_one_line_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> None:
        raise StorageError("the directory is another node's")

    monkeypatch.setattr(command, "quire", broken)
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == "quire: the directory is another node's\n"


def test_an_error_of_the_system_names_the_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> None:
        raise PermissionError(13, "Permission denied", "/data/meta.properties")

    monkeypatch.setattr(command, "quire", broken)
    with pytest.raises(SystemExit):
        command.main()
    assert capsys.readouterr().err == "quire: /data/meta.properties: Permission denied\n"
