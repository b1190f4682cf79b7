"""kafka-python 3, as a program of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.compat.client import Client
from tests.compat.environments import python_with
from tests.compat.scenarios import Administration, Conversation, Groups

pytestmark = pytest.mark.compat

NAME = "kafka-python"
REQUIREMENTS = (
    "kafka-python==3.0.12", "python-snappy==0.7.3", "lz4==4.4.5", "zstandard==0.25.0",
)  # fmt: skip
DRIVER = str(Path(__file__).parent / "driver.py")


class TestKafkaPython(Conversation, Administration, Groups):
    @pytest.fixture
    def client(self, bootstrap: str) -> Client:
        return Client([*python_with(NAME, *REQUIREMENTS), DRIVER], bootstrap)
