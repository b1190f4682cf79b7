from __future__ import annotations

import json

from click.testing import CliRunner

from quire.records import implementation
from quire.tools.version import version


def test_version_says_which_kernels_run() -> None:
    result = CliRunner().invoke(version)
    assert result.exit_code == 0
    assert implementation.NAME in result.output
    assert result.output.startswith("quire ")


def test_version_as_json_names_every_codec_library() -> None:
    found = json.loads(CliRunner().invoke(version, ["--format", "json"]).output)
    assert found["kafka"] == "4.3"
    assert {"quire", "python", "kernels", "crc32c", "cramjam", "lz4", "zstandard"} <= set(found)
