from __future__ import annotations

from quire.tools.doctor.findings import fine, is_well, warning, wrong


def test_warnings_are_no_illness() -> None:
    assert is_well([])
    assert is_well([fine("a", "b"), warning("a", "b", "c")])
    assert not is_well([fine("a", "b"), wrong("a", "b", "c")])
