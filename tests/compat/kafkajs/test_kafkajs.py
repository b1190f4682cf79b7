"""kafkajs, from npm."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from tests.compat.client import Client
from tests.compat.environments import node_with
from tests.compat.scenarios import Administration, Conversation, Groups

pytestmark = pytest.mark.compat

NAME = "kafkajs"
PACKAGES = ("kafkajs@2.2.4", "kafkajs-snappy@1.1.0", "zstd-codec@0.1.5")
DRIVER = str(Path(__file__).parent / "driver.js")


class TestKafkajs(Conversation, Administration, Groups):
    codecs = ("none", "gzip", "snappy", "zstd")
    cannot: ClassVar = {
        "set_config": "kafkajs has only the request that replaces all settings",
        "by_time": "kafkajs gives the end of the partition where no record is that late",
        "largest": "kafkajs repeats a message that is too large until its retries are used up",
    }

    @pytest.fixture
    def client(self, bootstrap: str) -> Client:
        return Client(["node", DRIVER, str(node_with(NAME, *PACKAGES))], bootstrap)
