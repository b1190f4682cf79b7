from __future__ import annotations

from pathlib import Path

import pytest

from quire.tools.asking import SettingError
from quire.tools.settings import properties_of


def test_what_is_typed_counts_more_than_the_file(tmp_path: Path) -> None:
    path = tmp_path / "node.properties"
    path.write_text("# a comment\nnode.id = 1\nlog.dirs=/a\\\n  ,/b\n")
    assert properties_of(str(path), ("node.id=2", "x=y=z")) == {
        "node.id": "2",
        "log.dirs": "/a,/b",
        "x": "y=z",
    }
    with pytest.raises(SettingError, match="name=value"):
        properties_of(str(path), ("node.id",))


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "node.properties"
    path.write_text("node.id=\\uZZZZ\n")
    with pytest.raises(SettingError, match=r"node\.properties"):
        properties_of(str(path), ())
