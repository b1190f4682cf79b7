from __future__ import annotations

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from quire.tools.completion import SHELLS
from quire.tools.main import quire


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_is_given_a_script_that_asks_quire(shell: str) -> None:
    done = CliRunner().invoke(quire, ["completion", shell])
    assert done.exit_code == 0, done.output
    assert f"_QUIRE_COMPLETE={shell}_complete" in done.output


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("quire to", "topic"), ("quire topic de", "describe"), ("quire consume --fo", "--format")],
)
def test_commands_and_options_are_completed(typed: str, offered: str) -> None:
    words = typed.split()
    environment = {
        **os.environ,
        "_QUIRE_COMPLETE": "bash_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "quire"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert offered in [line.partition(",")[2] for line in done.stdout.splitlines()], done.stderr
