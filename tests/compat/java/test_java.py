"""Apache Kafka's own Java clients: producer, consumer and admin of 4.3."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.compat.client import Client
from tests.compat.environments import java_program
from tests.compat.scenarios import (
    Administration,
    ConsumerGroups,
    Conversation,
    Groups,
    Migration,
    Transactions,
)

pytestmark = pytest.mark.compat

SOURCE = Path(__file__).parent / "Driver.java"


class TestJava(Conversation, Administration, Groups, ConsumerGroups, Migration, Transactions):
    @pytest.fixture
    def client(self, bootstrap: str) -> Client:
        return Client(java_program("java", SOURCE, main_class="Driver"), bootstrap)
