from __future__ import annotations

import pytest

from quire.tools.demo.telling import fail, say


def test_a_broken_promise_is_an_error_and_a_step_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    say("one step")
    with pytest.raises(SystemExit) as ended:
        fail("it is gone")
    assert ended.value.code == 1
    told = capsys.readouterr()
    assert (told.out, told.err) == ("quire one step\n", "quire: it is gone\n")
