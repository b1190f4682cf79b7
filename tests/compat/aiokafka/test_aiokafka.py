"""aiokafka, as a program of its own."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from tests.compat.client import Client
from tests.compat.environments import python_with
from tests.compat.scenarios import Administration, Conversation, Groups

pytestmark = pytest.mark.compat

NAME = "aiokafka"
REQUIREMENTS = ("aiokafka[lz4,snappy,zstd]==0.14.0",)
DRIVER = str(Path(__file__).parent / "driver.py")


class TestAiokafka(Conversation, Administration, Groups):
    cannot: ClassVar = {
        "set_config": "aiokafka's alter_configs is the request that replaces all settings",
    }

    @pytest.fixture
    def client(self, bootstrap: str) -> Client:
        return Client([*python_with(NAME, *REQUIREMENTS), DRIVER], bootstrap)
