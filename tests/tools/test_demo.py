from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from quire.tools import demo


def test_the_demo_keeps_its_promises() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "quire.tools.demo"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for words in ("killed (SIGKILL)", "torn bytes", "newest stock level", "0 faults", "done"):
        assert words in done.stdout


def test_a_broken_promise_ends_the_demo_with_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / f"{0:020d}.log").write_bytes(b"")
    with pytest.raises(SystemExit) as ended:
        demo.recover(str(tmp_path), flushed=1000)
    assert ended.value.code == 1
    assert "flushed up to 1000" in capsys.readouterr().err
