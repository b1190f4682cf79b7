"""confluent-kafka, and with it librdkafka, as a program of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.compat.client import Client
from tests.compat.environments import python_with
from tests.compat.scenarios import (
    Administration,
    ConsumerGroups,
    Conversation,
    Groups,
    Migration,
    Transactions,
)

pytestmark = pytest.mark.compat

NAME = "confluent-kafka"
REQUIREMENT = "confluent-kafka==2.16.1"
DRIVER = str(Path(__file__).parent / "driver.py")


class TestConfluentKafka(
    Conversation, Administration, Groups, ConsumerGroups, Migration, Transactions
):
    @pytest.fixture
    def client(self, bootstrap: str) -> Client:
        return Client([*python_with(NAME, REQUIREMENT), DRIVER], bootstrap)
