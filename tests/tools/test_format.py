from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.node.scene import CLUSTER_ID, SETTINGS

from quire.node.format import FormatError
from quire.tools.asking import SettingError
from quire.tools.format import format_node


def invoke(tmp_path: Path, *arguments: str) -> list[dict[str, object]]:
    path = tmp_path / "node.properties"
    settings = {**SETTINGS, "log.dirs": f"{tmp_path}/a,{tmp_path}/b"}
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    result = CliRunner().invoke(
        format_node, ["-c", str(path), "--format", "json", *arguments], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    found: list[dict[str, object]] = json.loads(result.output)
    return found


def test_every_directory_is_formatted_once(tmp_path: Path) -> None:
    found = invoke(tmp_path, "-t", CLUSTER_ID, "-s")
    assert found == [
        {"directory": f"{tmp_path}/{name}", "cluster": CLUSTER_ID, "formatted": True}
        for name in ("a", "b")
    ]
    assert (tmp_path / "b" / "meta.properties").exists()
    with pytest.raises(FormatError):
        invoke(tmp_path, "-t", CLUSTER_ID, "-s")
    again = invoke(tmp_path, "-t", CLUSTER_ID, "-s", "-g")
    assert [one["formatted"] for one in again] == [False, False]


def test_without_a_cluster_id_one_is_drawn(tmp_path: Path) -> None:
    (first, second) = invoke(tmp_path, "-s", "-f", "group.version=0")
    assert len(str(first["cluster"])) == 22
    assert first["cluster"] == second["cluster"]


def test_a_level_that_is_no_number_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"group\.version is 'x'"):
        invoke(tmp_path, "-s", "-f", "group.version=x")
