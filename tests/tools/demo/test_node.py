"""The whole demo, as `make demo` runs it: both acts keep their promises."""

from __future__ import annotations

import subprocess
import sys


def test_the_demo_keeps_its_promises() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "quire.tools.demo"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for words in (
        "a node answers at", "killed it (SIGKILL)", "all 100,000 acknowledged ones are there",
        "killed (SIGKILL)", "torn bytes", "newest stock level", "0 faults", "done",
    ):  # fmt: skip
        assert words in done.stdout
