from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from quire.config.broker import BrokerSettings
from quire.config.reference import reference
from quire.config.topic import TopicSettings

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "configs.md"


def test_the_page_in_the_repository_is_fresh() -> None:
    assert PAGE.read_text() == reference(), (
        "run: python -m quire.config > docs/reference/configs.md"
    )


def test_every_setting_has_its_line_with_a_sentence() -> None:
    page = reference()
    for setting in (*BrokerSettings.declared.values(), *TopicSettings.declared.values()):
        assert f"| `{setting.name}` |" in page
        assert setting.doc.endswith("."), setting


def test_the_command_prints_the_page() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "quire.config"], capture_output=True, text=True, check=True
    )
    assert done.stdout == reference()
