from __future__ import annotations

from pathlib import Path

import pytest

from quire.tools.demo import log as demo


def test_a_broken_promise_ends_the_demo_with_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / f"{0:020d}.log").write_bytes(b"")
    with pytest.raises(SystemExit) as ended:
        demo.recover(str(tmp_path), flushed=1000)
    assert ended.value.code == 1
    assert "flushed up to 1000" in capsys.readouterr().err
